// Package pki makes an authority and certificates for tests of clusters that
// speak TLS.
//
// Invariants:
//   - Certificates are good for servers and clients alike, and for an hour.
package pki
