// Package debian builds the base image "debian": a directory with a Python and
// what it needs, from Debian or Ubuntu packages, without Docker and without
// root.
//
// Invariants: packages come from the machine's own configured sources through
// apt, and each file is checked against the hash that apt's signed index
// names; no maintainer script runs; the image appears under its name complete
// or not at all; the list of packages with versions and hashes is part of the
// image (LockPath), sorted and free of dates, so two builds from the same
// sources have the same list.
package debian
