// Package promql decides whether a cluster is exposed to the risk of a
// conditional update, by querying the cluster's Prometheus. Its [Evaluator] is
// a [github.com/fairlead/fairlead/cvo/graph.Evaluator] for rules of the types
// PromQL and Always.
//
//	by, err := promql.New("https://thanos-querier.openshift-monitoring.svc:9091", &promql.Options{
//		TokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token",
//		CAFile:    "/etc/service-ca/service-ca.crt",
//	})
//	…
//	known, wake := known.Evaluate(ctx, by, updates, clock, nil)
//
// # What an answer means
//
// A rule is an instant query. Only an answer with exactly one sample decides:
// 1 is a match, 0 is not. Everything else is an [*Error], never "not
// exposed": no samples or several, NaN and other values, a histogram, a
// scalar, and an answer with warnings, because that may be partial. The graph
// turns the error into a recommendation that is Unknown with the reason
// EvaluationFailed.
//
// # What is left to the graph
//
// How often a rule is evaluated, how many at once, with which pause in between,
// and how long a result is valid:
// [github.com/fairlead/fairlead/cvo/graph.Evaluations] keeps that as data,
// according to its policy. The evaluator itself keeps no state.
//
// # Limits
//
//  1. A query takes at most Options.Timeout; the server is also told, and
//     gives up by itself.
//  2. An answer has at most Options.MaxAnswer bytes, decompressed.
//  3. Redirects are not followed, because the bearer token would be sent along.
//
// The files of the token and of the certificate authorities are read for each
// query, because clusters renew both.
//
// The rules are those of OpenShift's enhancement on targeted update edge
// blocking; the API is that of Prometheus, version 1, which Thanos serves as well.
package promql
