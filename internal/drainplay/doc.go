// Package drainplay compares what is predicted of a drain with what happens: it draws random
// clusters, predicts the drain of a node, and lets the engines drain it in memory.
//
// Only tests import this package.
package drainplay
