// Package registry stores lambdas: a bucket of files, S3 or GCS objects.
//
// Invariants:
//   - A lambda is the object <name>.tar.gz, or the objects below <name>/; the
//     archive wins if there are both.
//   - A version changes whenever the content may have changed.
//   - What has no lambda's name is ignored; it never makes an operation fail.
package registry
