// Command ol-runc makes OCI containers for a worker whose configuration says
// sandbox: runc. The worker starts it, and speaks to it over a socket; it is of
// no use by itself. It is a program of its own because libcontainer needs cgo,
// which the worker does without; sock/runc/oci is what it does.
//
// Invariant: executed as "init" it is the first process of a container, and
// does nothing but what libcontainer has it do.
package main
