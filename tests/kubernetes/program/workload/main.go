// What the pods of the tests run: `pause` keeps the namespaces of a pod, `hello` answers every request with the name
// of its pod and prints its path. Not a part of the other program, because a node starts a pause for every pod and that one is large.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func untilEnded() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
}

func hello(address string) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	answer := http.HandlerFunc(func(reply http.ResponseWriter, request *http.Request) {
		fmt.Println(request.URL.Path)
		fmt.Fprintln(reply, name)
	})
	fmt.Println("listens on", address)
	server := http.Server{Addr: address, Handler: answer, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	go func() {
		untilEnded()
		failed <- nil
	}()
	return <-failed
}

func main() {
	var err error
	switch name := filepath.Base(os.Args[0]); {
	case name == "pause" && len(os.Args) == 1:
		untilEnded()
	case name == "hello" && len(os.Args) == 2:
		err = hello(os.Args[1])
	default:
		err = fmt.Errorf("call it as `pause` or as `hello ADDRESS:PORT`")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
