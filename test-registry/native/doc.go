// Command native is a lambda that is a program: it serves HTTP/1.1 on the unix
// socket that OL_SOCKET names. What follows /run/<name>/ says what it does:
//
//	noop      answers "noop"
//	hash      {"text": "a", "rounds": 1}: SHA-256, again and again, in hexadecimal
//	multiply  {"a": 25, "b": 8}: answers 200
//	call      {"lambda": "echo", "event": ...}: what the other lambda answers,
//	          called through /host/invoke.sock; its ol.yaml has to allow that
//
// Invariant: it keeps no state between requests.
package main
