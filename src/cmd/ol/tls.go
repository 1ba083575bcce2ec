package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/config"
)

func insecureFlag() cli.Flag {
	return &cli.BoolFlag{Name: "insecure", Usage: "the network is trusted: listen on it without a token or TLS"}
}

// requireProtection refuses to be open to other machines without a token or
// TLS. tokenKey and certKey are the keys of the configuration that give them.
func requireProtection(what, host, token, tokenKey, cert, certKey string, insecure bool) error {
	if insecure || config.Loopback(host) {
		return nil
	}
	var missing []string
	if token == "" {
		missing = append(missing, "a token ("+tokenKey+")")
	}
	if cert == "" {
		missing = append(missing, "TLS ("+certKey+")")
	}
	if len(missing) == 0 {
		return nil
	}
	return fail(codeUsage, what, fmt.Errorf("on %s other machines reach it, and it lacks %s", host, strings.Join(missing, " and ")),
		"give it what is missing, or say that the network is trusted: --insecure")
}

// serverTLS serves with a certificate, and asks clients for one that an
// authority in clientCA has signed unless that is "".
func serverTLS(cert, key, clientCA string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("load certificate: %w", err)
	}
	// Links need HTTP/1.1.
	t := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if clientCA == "" {
		return t, nil
	}
	t.ClientAuth = tls.RequireAndVerifyClientCert
	t.ClientCAs, err = readCA(clientCA)
	return t, err
}

// secured serves TLS on a listener if there is a certificate, and closes the
// listener after an error.
func secured(l net.Listener, what, cert, key, clientCA string) (net.Listener, error) {
	if cert == "" {
		return l, nil
	}
	t, err := serverTLS(cert, key, clientCA)
	if err != nil {
		return nil, errors.Join(fail(codeUsage, what, err, ""), l.Close())
	}
	if socket, ok := l.(syscall.Conn); ok {
		return securedListener{tls.NewListener(l, t), socket}, nil
	}
	return tls.NewListener(l, t), nil
}

// securedListener serves TLS and still has the socket below.
type securedListener struct {
	net.Listener
	syscall.Conn
}

func readCA(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read certificates: %s holds none", file)
	}
	return pool, nil
}

// clientTLS trusts the certificates in a file, or what the machine trusts, and
// shows a certificate if there is one. nil if all are "".
func clientTLS(ca, cert, key string) (*tls.Config, error) {
	if ca == "" && cert == "" {
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		pool, err := readCA(ca)
		if err != nil {
			return nil, fail(codeUsage, "trust certificates", err, "")
		}
		t.RootCAs = pool
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fail(codeUsage, "load certificate", err, "")
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// ownTLS is for a process of this machine whose certificate and key are at
// hand: it must have that very certificate, by whatever name it is reached, and
// is shown it in turn. nil if cert is "".
func ownTLS(cert, key string) (*tls.Config, error) {
	t, err := clientTLS("", cert, key)
	if err != nil || t == nil {
		return nil, err
	}
	own := t.Certificates[0].Certificate[0]
	t.InsecureSkipVerify = true // replaced by a stricter check
	t.VerifyConnection = func(s tls.ConnectionState) error {
		if !bytes.Equal(s.PeerCertificates[0].Raw, own) {
			return fmt.Errorf("the certificate is another one than that in %s", cert)
		}
		return nil
	}
	return t, nil
}
