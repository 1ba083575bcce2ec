package worker

import "github.com/open-lambda/open-lambda/worker/sandbox"

// The sandbox mechanism's interface, under the names that a mechanism's
// adapter and New use. The definitions are in package sandbox because the
// parts of the worker need them as well.
type (
	// Provider makes sandboxes.
	Provider = sandbox.Provider
	// SandboxSpec is everything a provider must know to make a sandbox.
	SandboxSpec = sandbox.Spec
	// Sandbox is one ready sandbox.
	Sandbox = sandbox.Sandbox
	// SandboxInfo describes a sandbox.
	SandboxInfo = sandbox.Info
	// Runner runs jobs beside sandboxes, such as installers.
	Runner = sandbox.Runner
	// Job is a program that runs once.
	Job = sandbox.Job
	// JobError is a job that failed.
	JobError = sandbox.JobError
	// Package is an installed Python package.
	Package = sandbox.Package
	// StartError is a start that failed.
	StartError = sandbox.StartError
)

// ErrNotSent is wrapped by a RoundTrip's error when nothing of the request can
// have been seen by the lambda.
var ErrNotSent = sandbox.ErrNotSent
