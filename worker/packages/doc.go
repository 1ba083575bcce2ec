// Package packages keeps the Python packages that lambdas need, installed, on
// the worker's disk.
//
// A package is installed once for each version, by pip in a sandbox of its own,
// into a directory named after both; lambdas that name it share the directory,
// read-only. Dependencies are not followed: a lambda names every package that it
// needs, as OpenLambda has it.
//
// Invariants:
//   - What stands under a package's name is whole: it was built elsewhere and
//     renamed. What a killed worker left half done is removed at the start.
//   - One installation of a package and version at a time; the callers that
//     want it wait for the same one, and none stops it by leaving.
//   - What is leased is not removed. What is not may go, least recently used
//     first, when the disk space that is allowed is used up.
//   - The choice of a version that a lambda leaves open is made once and
//     written down.
package packages
