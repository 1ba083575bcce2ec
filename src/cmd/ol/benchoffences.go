package main

import (
	"fmt"
	"net/http"
	"time"
)

// offence is what a tenant does to get more than its share.
type offence struct {
	name    string
	builtin string
	body    string
	config  string        // its ol.yaml; "" is the worker's limits
	tasks   int           // calls at a time
	sip     time.Duration // pause between two reads of an answer
	status  int           // that it gets when it has done what it can
}

// exhaust is a way of the lambda that uses things up.
func exhaust(name, what string, status int) offence {
	return offence{name: name, builtin: "abuse/exhaust", body: fmt.Sprintf(`{"what": %q}`, what), tasks: 1, status: status}
}

// atOnce has several calls at a time.
func (a offence) atOnce(tasks int) offence {
	a.tasks = tasks
	return a
}

// slowly has the answers read slowly.
func (a offence) slowly(sip time.Duration) offence {
	a.sip = sip
	return a
}

// roomy gives it memory that it cannot use up before something else is.
func (a offence) roomy() offence {
	a.config = "limits: {mem_mb: 200}\n"
	return a
}

// offences are those that could be felt next door. A tenant has one sandbox,
// unless the abuse is to have many at once.
func offences() []offence {
	const done, killed = http.StatusOK, http.StatusBadGateway
	return []offence{
		exhaust("a CPU hog", "hog", done),
		exhaust("a fork bomb", "fork bomb", done),
		exhaust("a fork storm", "fork storm", done),
		exhaust("a memory bomb", "memory", killed),
		exhaust("a tmpfs bomb", "disk in /tmp", killed),
		exhaust("a full disk", "disk in /host", done).roomy(),
		exhaust("inodes without end", "inodes in /tmp", killed),
		exhaust("a page cache reader", "reads", done),
		exhaust("a page cache writer", "maps", done),
		exhaust("full pipes", "pipes", killed),
		exhaust("full socket buffers", "socket buffers", killed),
		exhaust("all descriptors", "descriptors", done),
		exhaust("descriptors in flight", "descriptors in flight", done),
		exhaust("an output flood", "output", done),
		exhaust("an endless answer", "endless answer", done),
		exhaust("slow readers", "endless answer", done).atOnce(8).slowly(50 * time.Millisecond),
		{name: "a crash loop", builtin: "crash", body: "{}", tasks: 1, status: killed},
		{name: "four crash loops", builtin: "crash", body: "{}", tasks: 4, status: killed},
	}
}
