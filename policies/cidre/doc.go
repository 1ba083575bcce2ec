// Package cidre is the algorithm of the CIDRE paper (Concurrency-Informed
// Orchestration for Serverless Functions, ASPLOS'25, DOI
// 10.1145/3676641.3716253): basic and conditional speculative scaling (BSS,
// CSS; section 3.2, Algorithm 1) and the concurrency-informed priority (CIP;
// section 3.3, Equations 3 and 4).
//
// Invariants:
//   - Requests are bound late: whatever sandbox of the function is free or
//     ready first takes the oldest one (section 3.1).
//   - Under BSS, and under CSS while its race is on, no request waits longer
//     than the start issued for it, memory permitting (section 3.2).
//   - CSS decides in O(1); medians are kept, not computed, when asked.
//   - CIP evicts in exactly the order of Equation 3 at the moment of the
//     eviction; see evict.go for why the lazy order is exact.
//   - Where the text of the paper is silent, the decision is named beside
//     the code and in a test.
package cidre
