package served

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/fairlead/fairlead/catalog"
)

// grpc reads a catalog over gRPC. Its revision is a hash of the documents,
// since the service has none.
func (c *Client) grpc(ctx context.Context, address, revision string) (*catalog.Catalog, string, error) {
	with := insecure.NewCredentials()
	if c.options.TLS != nil {
		with = credentials.NewTLS(c.options.TLS)
	}
	if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" || strings.ContainsAny(host, "/@") {
		return nil, "", errors.New("its address is not HOST:PORT") // gRPC would take it for a file, or for a name to be resolved otherwise
	}
	dial := c.options.Rules.Dialer()
	conn, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithContextDialer(func(ctx context.Context, to string) (net.Conn, error) { return dial.DialContext(ctx, "tcp", to) }),
		grpc.WithTransportCredentials(with),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(c.options.MaxMessage)))
	if err != nil {
		return nil, "", err
	}
	defer conn.Close()
	s := &session{ctx, conn, c.options.MaxSize, c.options.MaxSize}
	packages, err := s.packages()
	if err != nil {
		return nil, "", err
	}
	var bundles []bundle
	err = s.list("ListBundles", func(data []byte) error {
		b, err := readBundle(data)
		bundles = append(bundles, b)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	texts, err := documents(packages, bundles)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(sum, "%d ", len(text))
		sum.Write(text)
	}
	now := "sha256:" + hex.EncodeToString(sum.Sum(nil))
	if now == revision {
		return nil, revision, nil
	}
	var all []*catalog.Document
	for i, text := range texts {
		d, err := catalog.NewDocument(text, catalog.Position{File: address, Line: i + 1, Column: 1})
		if err != nil {
			return nil, "", err
		}
		all = append(all, d)
	}
	return catalog.New(all), now, nil
}

// session is one reading of a catalog.
type session struct {
	ctx       context.Context
	conn      *grpc.ClientConn
	left, max int64
}

// packages reads the packages, in the order of the service.
func (s *session) packages() ([]pkg, error) {
	var names []string
	err := s.list("ListPackages", func(data []byte) error {
		name, err := text(data, 1)
		names = append(names, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []pkg
	for _, name := range names {
		request, answer := named(name), []byte(nil)
		if err := s.conn.Invoke(s.ctx, method("GetPackage"), &request, &answer); err != nil {
			return nil, fmt.Errorf("package %s: %w", name, err)
		}
		if err := s.count(answer); err != nil {
			return nil, err
		}
		p, err := readPackage(answer)
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", name, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// list calls f for each message of a list.
func (s *session) list(name string, f func([]byte) error) error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	stream, err := s.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method(name))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var nothing []byte
	if err := stream.SendMsg(&nothing); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := stream.CloseSend(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for {
		var data []byte
		err := stream.RecvMsg(&data)
		if err == io.EOF { //nolint:errorlint // as it is documented
			return nil
		}
		if err == nil {
			err = s.count(data)
		}
		if err == nil {
			err = f(data)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// count subtracts the size of a message from the limit of the catalog.
func (s *session) count(data []byte) error {
	if s.left -= int64(len(data)) + 1; s.left < 0 {
		return tooLarge(s.max)
	}
	return nil
}

func method(name string) string { return "/api.Registry/" + name }

// raw is a codec that passes messages through unchanged.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
