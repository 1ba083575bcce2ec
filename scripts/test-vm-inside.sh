#!/bin/sh
# Runs in the machine that test-vm.sh boots, as its first process, on a Debian
# userland: a worker's life, and the tests. The last line is the verdict.
# What the base has not, busybox has; what it has stays.
/vm/busybox --install /usr/bin 2>/dev/null
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:/vm HOME=/root TMPDIR=/tmp LC_ALL=C.UTF-8
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward # sandboxes with a network of their own take it
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

# tests NAME: those of a package that were asked for, and the names of the rest.
tests() {
	chosen=$(cat /vm/select)
	left=$("/vm/$1.test" -test.list . | grep '^Test' | grep -Ev "${chosen%%/*}" | tr '\n' ' ')
	[ -z "$left" ] || echo "NOT RUN, not asked for: $left"
	(cd /tmp && "/vm/$1.test" -test.timeout 40m -test.run "$chosen" -test.v 2>&1 | summary "$1")
}

# summary shows verdicts and what was left out while it goes on, and everything
# if a test failed. Its status is that of the tests.
summary() {
	tee "/tmp/$1.log" | grep -E '^--- |NOT RUN|^(PASS|FAIL|panic)'
	grep -q '^PASS$' "/tmp/$1.log" && return 0
	cat "/tmp/$1.log"
	return 1
}

# hard writes a lambda that tries each of its limits.
hard() {
	mkdir -p /tmp/hard
	cat >/tmp/hard/f.py <<-'END'
		import os, time

		def burn(seconds):
		    end, used = time.monotonic() + seconds, time.process_time()
		    while time.monotonic() < end:
		        pass
		    return (time.process_time() - used) / seconds

		def fork(most):
		    made = 0
		    try:
		        while made < most:
		            if os.fork() == 0:
		                time.sleep(600)
		                os._exit(0)
		            made += 1
		    except OSError:
		        return "forks refused"
		    return "forks allowed"

		def f(event):
		    what = event["what"]
		    if what == "memory":
		        held = []
		        while True:
		            held.append(b"x" * (1 << 20))
		    if what == "fork":
		        return fork(50)
		    if what == "cpu":
		        return "processor held back" if burn(4) < 0.5 else "processor free"
		    return "hello " + what
	END
	printf 'limits:\n  mem_mb: 48\n  procs: 10\n  cpu_percent: 20\n  runtime_sec: 60\n' >/tmp/hard/ol.yaml
}

# says WHAT TEXT: a call of the lambda answers with the text, be it an error.
says() {
	ol invoke -p "$dir" hard "{\"what\": \"$1\"}" >/tmp/answer 2>&1
	grep -q "$2" /tmp/answer && echo "$1: $2" && return 0
	echo "$1 answers, without '$2':"
	cat /tmp/answer "$dir/worker.out"
	return 1
}

# stats: the worker has counted the five calls.
stats() {
	wget -q -O /tmp/stats "http://localhost:$(sed -n 's/^Port: //p' /tmp/up)/stats" &&
		grep -Eq '"web-request.cnt": *([5-9]|[1-9][0-9])' /tmp/stats && return 0
	echo "statistics without five requests:"
	cat /tmp/stats
	return 1
}

# life of a worker with the given sandboxes, and of a lambda at its limits.
life() {
	dir=/tmp/worker-$1
	hard
	ol worker init -p "$dir" -i host &&
		ol worker up -d -p "$dir" -o "worker_port=0,pool_size=1,sandbox=$1" >/tmp/up &&
		cat /tmp/up &&
		ol admin install -p "$dir" /tmp/hard &&
		says "cgroup v2" "hello cgroup v2" &&
		says cpu "processor held back" &&
		says fork "forks refused" &&
		says memory "out of memory" &&
		says again "hello again" &&
		stats &&
		ol worker down -p "$dir" &&
		! ls -d /sys/fs/cgroup/openlambda-* 2>/dev/null
}

# containers: the life with OCI containers, where their program was built.
containers() {
	if [ ! -e /vm/ol-runc ]; then
		echo "NOT RUN: OCI containers need ol-runc, which needs a C compiler"
		return 0
	fi
	life runc
}

for part in $(cat /vm/parts); do
	case $part in
	doctor) step "ol doctor" ol doctor ;;
	cgroup) step "tests of sock/cgroup" tests cgroup ;;
	smoke) step "a worker with SOCK sandboxes" life sock ;;
	runc) step "a worker with OCI containers" containers ;;
	sock) step "tests of sock" tests sock ;;
	esac
done

if [ "$failed" ]; then
	echo "test-vm verdict: failed:$failed"
else
	echo "test-vm verdict: passed"
fi
sync
echo o >/proc/sysrq-trigger
sleep 60
