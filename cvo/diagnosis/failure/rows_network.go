package failure

// networkRows are failures that any text can name: certificates, names, connections.
func networkRows() []row {
	return []row{{
		code: "ClockSkew", source: "Go crypto/x509 verify.go: not yet valid means that one of two clocks is wrong",
		text: re(`x509: certificate has expired or is not yet valid: current time (?P<now>\S+) is before (?P<then>\S+)`), says: "a certificate is not valid yet: a clock is wrong ({now} is before {then})", do: "repair time synchronisation on the nodes", commands: list("kubectl get nodes -o wide"),
	}, {
		code: "CertificateExpired", source: "Go crypto/x509 verify.go",
		text: re(`x509: certificate has expired(?: or is not yet valid: current time \S+ is after (?P<then>\S+))?|certificate (?:has )?expired`), says: "a certificate expired[ at {then}]", do: "renew it; see which endpoint the message names, and whether certificate requests are pending", commands: list("kubectl get certificatesigningrequests"),
	}, {
		code: "CertificateUntrusted", source: "Go crypto/x509 verify.go",
		text: re(`x509: (?:certificate signed by unknown authority|certificate is not trusted)`), also: res(`(?:get|post|dial tcp) "?https?://(?P<host>[^/"\s]+)`), says: "the certificate[ of {host}] is signed by an authority that is not trusted here", do: "add the authority to the trusted ones (proxy trustedCA, or the component's caBundle)", commands: list("oc get proxy cluster -o yaml"),
	}, {
		code: "CertificateName", source: "Go crypto/x509 verify.go",
		text: re(`x509: (?:certificate is (?:not )?valid for .+?, not (?P<host>[^\s,"]+)|certificate relies on legacy Common Name|cannot validate certificate for (?P<ip>\S+))`), says: "a certificate does not name the host[ {host}] that is called", do: "issue one that does", commands: list("kubectl get certificatesigningrequests"),
	}, {
		code: "NameNotResolved", source: "Go net/dnsclient_unix.go; public reports of okd",
		text: re(`lookup (?P<host>[a-z0-9][-.a-z0-9]*)(?: on (?P<server>[\d.]+):53)?[^\n]{0,80}?(?:no such host|server misbehaving|i/o timeout|connection refused)|temporary failure in name resolution|could not resolve host`),
		says: "a name[, {host},] is not resolved[ by {server}]", do: "check the DNS record, and the DNS pods or the server", commands: list("kubectl get pods -A -o wide | grep -i dns"),
	}, {
		code: "ConnectionRefused", source: "Go net; errno ECONNREFUSED",
		text: re(`dial tcp (?P<address>[^\s:]+:\d+|\[[^\]]+\]:\d+): connect: (?:connection refused|no route to host)`), says: "nothing answers at {address}", do: "see whether the pods behind it run", commands: list("kubectl get pods -A -o wide"),
	}, {
		code: "ConnectionTimeout", source: "Go net",
		text: re(`dial tcp (?P<address>[^\s:]+:\d+|\[[^\]]+\]:\d+): i/o timeout`), says: "{address} does not answer in time", do: "check the network to it: firewall, network policy, node", commands: list("kubectl get pods -A -o wide"),
	}}
}
