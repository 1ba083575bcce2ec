package main

import "testing"

// escapeCase is a lambda of abuseDir that tries to get out of its sandbox, or at
// other sandboxes.
type escapeCase struct {
	name  string
	first func(t *testing.T, a *abused, event map[string]any) // before it is called
	want  map[string]string                                   // outcomes by attempt, as regular expressions; "" is for all others
	last  func(t *testing.T, a *abused, event map[string]any) // after it
}

// refusal is any error by which the kernel refuses to whoever lacks a right.
const refusal = "EPERM|EACCES|EROFS"

func escapes() []escapeCase {
	return []escapeCase{
		{name: "mounts", want: map[string]string{"": "EPERM", "clone3": "ENOSYS|EPERM"}},
		{name: "devices", want: devicesWant()},
		{name: "others", first: leaveMark, want: othersWant(), last: findMark},
		{name: "kernel", want: kernelWant()},
		{name: "setuid", want: setuidWant()},
		{name: "network", want: networkWant()},
		{name: "files", want: filesWant()},
		{name: "secrets", first: keepSecret, want: map[string]string{"found": "", "looked": "enough", "environment": ""}},
		{name: "base", want: map[string]string{"": refusal}},
	}
}

func devicesWant() map[string]string {
	want := map[string]string{
		"":                "ENOENT", // it is not there
		"listing":         "fd full (mqueue )?null (ptmx )?(pts )?random shm stderr stdin stdout tty urandom zero",
		"write /dev/full": "ENOSPC", "terminal": "ENXIO", "remove /dev/null": refusal, "mode of /dev/null": refusal,
	}
	for _, where := range []string{"/tmp", "/host", "/dev/shm", "/dev"} {
		want["block device in "+where] = "EPERM"
		want["character device in "+where] = "EPERM"
	}
	return want
}

func othersWant() map[string]string {
	return map[string]string{
		"": "EPERM", "abstract socket": "ECONNREFUSED", "names of sockets": "ENOENT", "shared memory": "ENOENT",
		"file in /dev/shm/": "ENOENT", "file in /tmp/": "ENOENT", "file in /host/": "ENOENT", "parent": "ENOENT",
		"signal 2": "ESRCH", "signal 3": "ESRCH", "signal 100": "ESRCH", "signal 1000": "ESRCH", "signal 4000": "ESRCH",
		"processes": "1", "kill everybody": "done|ESRCH",
		"give limits": "ESRCH", "slow down": "ESRCH", "move": "ESRCH",
	}
}

// kernelWant: system calls are refused; of /proc there is nothing to be read or
// written that tells of the machine, and nothing at all of /sys.
func kernelWant() map[string]string {
	return map[string]string{
		"": refusal + "|ENOENT|ENODATA|EIO", "/sys": "", "keyctl session": "EPERM", "keyctl read": "EPERM", "add_key": "EPERM", "request_key": "EPERM",
		"bpf": "EPERM", "perf_event_open": "EPERM", "userfaultfd": "EPERM", "io_uring_setup": "EPERM", "syslog": "EPERM", "init_module": "EPERM",
		"kexec_load": "EPERM", "reboot": "EPERM", "swapon": "EPERM", "sethostname": "EPERM", "real time": "EPERM", "nice": "EPERM",
	}
}

func setuidWant() map[string]string {
	return map[string]string{
		"": "EPERM", "new privileges": "EINVAL", "sudo": "ENOENT|EPERM", "no_new_privs": "1", "capabilities": "0{16}( 0{16}){4}",
		"set-user-id in /tmp/id": "as itself|EACCES", "set-user-id in /host/id": "as itself|EACCES", "set-user-id in /dev/shm/id": "as itself|EACCES",
		"uid map": "EPERM|EACCES",
	}
}

// networkWant: with a network of its own nothing answers, and nothing of the
// machine even says that it is there.
func networkWant() map[string]string {
	return map[string]string{
		"": "ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|TimeoutError", "raw": "EPERM", "packet": "EPERM", "vsock": "EPERM", "alg": "EPERM",
		"link down": "EPERM", "route": "EPERM", "join namespace": "EPERM", "abstract sockets": "ENOENT", "invoke socket": "ENOENT",
	}
}

func filesWant() map[string]string {
	return map[string]string{
		"": refusal, "left open": "ENOENT", "hard link to code": "EXDEV", "hard link to base": "EXDEV",
		"up from code": "ENOENT", "up by proc": "ENOENT", "up by descriptor": "ENOENT",
		"socket replaced": "done|" + refusal, // its own: it then is not reached any more
	}
}

// leaveMark has another sandbox, which goes on, leave things to be found.
func leaveMark(t *testing.T, a *abused, event map[string]any) {
	a.install("leaver", "others", "")
	got := a.outcomes(t, "leaver", map[string]any{"mark": event["mark"], "leave": true})
	compareOutcomes(t, got, map[string]string{"left": "done"})
}

// findMark wants the one that left things to be alive, and to have them.
func findMark(t *testing.T, a *abused, event map[string]any) {
	got := a.outcomes(t, "leaver", map[string]any{"mark": event["mark"], "leave": true})
	compareOutcomes(t, got, map[string]string{"left": "still here"})
}

// keepSecret has another lambda hold a secret in its code and its environment.
func keepSecret(t *testing.T, a *abused, _ map[string]any) {
	a.put("keeper", "f.py", "SECRET = '"+secret()+"'\ndef f(event):\n    return SECRET\n", "ol.yaml", "environment: {SECRET: "+secret()+"}\n")
	a.names = append(a.names, "keeper")
	a.expect("keeper", 200, secret())
}
