// Package status decides what the status of a subscription says: the state it
// is in, and the conditions that tell why an operator is not installed or not
// updated.
//
// [Update] is a pure function of the subscription, of what was found out
// ([Facts]) and of the time. Conditions that do not apply are taken away,
// others keep the instant at which they began.
package status
