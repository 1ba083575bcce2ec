// Command ol is OpenLambda: it runs a worker, installs and calls lambdas, and
// says what a machine lacks.
//
// This is the only package where sandboxes, worker, policies and research
// tools meet. Invariants: data goes to stdout and talk to stderr; a command's
// result is an error value that fail.go turns into text and exit code, and
// only main ends the process; every command can be run in-process with its own
// streams and environment.
package main
