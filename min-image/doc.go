// Package minimage holds what a sandbox contains before any lambda: the Python
// runtime, embedded here, and (in package debian) the recipe of a base image.
//
// Invariants: the runtime needs nothing but a Python of at least version 3.9
// with its standard library; it imports all that it needs before a lambda's
// directory is on the module search path; a lambda can end its own process but
// cannot make the runtime answer one request with another's bytes.
package minimage
