#!/bin/sh
# Runs in the machine that test-vm.sh boots, as its first process, on a Debian
# userland: the tests, then a worker's life. The last line is the verdict.
# What the base has not, busybox has; what it has stays.
/vm/busybox --install /usr/bin 2>/dev/null
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:/vm HOME=/root TMPDIR=/tmp LC_ALL=C.UTF-8
ip link set lo up
echo "kernel $(uname -r), control groups: $(tr '\n' ' ' </sys/fs/cgroup/cgroup.controllers)"
failed=

# step NAME COMMAND...: runs it and notes whether it failed.
step() {
	name=$1
	shift
	echo "== $name"
	if "$@"; then
		echo "ok   $name"
	else
		echo "FAIL $name"
		failed="$failed $name"
	fi
}

tests() { (cd /tmp && "/vm/$1.test" -test.timeout 24m -test.run "$(cat /vm/select)" -test.v 2>&1 | summary "$1"); }

# summary shows verdicts and what was left out while it goes on, and everything
# if a test failed. Its status is that of the tests.
summary() {
	tee "/tmp/$1.log" | grep -E '^--- |NOT RUN|^(PASS|FAIL|panic)'
	grep -q '^PASS$' "/tmp/$1.log" && return 0
	cat "/tmp/$1.log"
	return 1
}

# life of a worker with the given sandboxes.
life() {
	dir=/tmp/worker-$1
	mkdir -p /tmp/hello && printf 'def f(event):\n    return "hello " + event["name"]\n' >/tmp/hello/f.py
	ol worker init -p "$dir" -i host &&
		ol worker up -d -p "$dir" -o "worker_port=0,pool_size=1,sandbox=$1" &&
		ol admin install -p "$dir" /tmp/hello &&
		ol invoke -p "$dir" hello '{"name": "cgroup v2"}' | tee /tmp/answer &&
		grep -q 'hello cgroup v2' /tmp/answer &&
		ol invoke -p "$dir" hello '{"name": "again"}' &&
		ol worker down -p "$dir" &&
		! ls -d /sys/fs/cgroup/openlambda-* 2>/dev/null
}

step "ol doctor" ol doctor
step "tests of sock/cgroup" tests cgroup
step "tests of sock" tests sock
step "a worker with SOCK sandboxes" life sock
[ ! -e /vm/ol-runc ] || step "a worker with OCI containers" life runc

if [ "$failed" ]; then
	echo "test-vm verdict: failed:$failed"
else
	echo "test-vm verdict: passed"
fi
sync
echo o >/proc/sysrq-trigger
sleep 60
