// Package whatif predicts evictions: which pods of a cluster would leave their
// nodes, when, and where they could go, if nodes were tainted or fell silent.
//
// [Predict] answers a [Question] about what [taints.ReadCluster] has read, and a
// [Prediction] writes itself for people and as a picture.
package whatif
