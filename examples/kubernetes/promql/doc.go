// Package promql tells whether a cluster is exposed to the risk of a
// conditional update, by asking the cluster's Prometheus. Its [Evaluator] is a
// [github.com/fairlead/fairlead/cvo/graph.Evaluator] for rules of the types
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
// A rule is an instant query. An answer of exactly one sample decides: 1 is a
// match, 0 is none. Everything else is an [*Error], never "not exposed": no
// sample and several, NaN and other values, a histogram, a scalar, and an
// answer with warnings, for that may be a partial one. The graph makes of the
// error a recommendation that is Unknown for the reason EvaluationFailed.
//
// # What is left to the graph
//
// How often a rule is asked, how many at once, with which pause between, and
// how long an answer holds: [github.com/fairlead/fairlead/cvo/graph.Evaluations]
// keeps that as data, by its policy. The evaluator itself keeps nothing.
//
// # Limits
//
//  1. A query takes at most Options.Timeout; the server is told so, too, and
//     gives it up by itself.
//  2. An answer has at most Options.MaxAnswer bytes, unpacked.
//  3. Redirects are not followed, since the bearer token would go along.
//
// The files of the token and of the certificate authorities are read again for
// each query, since clusters renew both.
//
// The rules are those of OpenShift's enhancement on targeted update edge
// blocking; the API is that of Prometheus, version 1, which Thanos serves as well.
package promql
