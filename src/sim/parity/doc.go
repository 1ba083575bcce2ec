// Package parity compares the simulator with faascache-sim, the simulator that
// FaasCache was published with (aFuerst/faascache-sim @ 25110b6), on one exact
// input under that simulator's own rules.
//
// The input is made from the shipped S1: in its first three minutes the c
// invocations of a function in a minute are spread evenly, the first at the
// minute's beginning; the first 20,000 count. A call takes the mean execution
// time, at least 1 ms; a cold call 3 ms per MB more.
//
// The rules: nobody waits; a full node evicts as engine.Config.DropFull says;
// priorities are those of faascache.Peer.
//
// Invariant: hits + misses + dropped = calls.
package parity
