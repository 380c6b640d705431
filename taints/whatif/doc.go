// Package whatif predicts evictions: which pods of a cluster would leave their
// nodes, when, and where they could go, if nodes were tainted or stopped reporting.
//
// [Predict] answers a [Question] about a cluster from [taints.ReadCluster]. A
// [Prediction] can be written as text and as a picture.
package whatif
