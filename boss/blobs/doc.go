// Package blobs keeps the code of lambdas in a bucket that all bosses reach: a
// directory, S3 or GCS.
//
// Invariants:
//   - An object is named by its digest and never changes: bosses may write the
//     same one at the same time.
//   - What has no digest's name is nobody's business: it is neither listed nor
//     removed.
package blobs
