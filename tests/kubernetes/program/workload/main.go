// What the pods of the tests run: `pause` keeps the namespaces of a pod, `hello` answers every request with the name
// of its pod and prints its path, `ask` asks once for a page and prints it. Not a part of the other program, because a
// node starts a pause for every pod and that one is large.
package main

import (
	"fmt"
	"io"
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

func ask(page string) error {
	client := http.Client{Timeout: 10 * time.Second}
	reply, err := client.Get(page)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	_, err = io.Copy(os.Stdout, io.LimitReader(reply.Body, 1<<20))
	return err
}

func main() {
	var err error
	switch name := filepath.Base(os.Args[0]); {
	case name == "pause" && len(os.Args) == 1:
		untilEnded()
	case name == "hello" && len(os.Args) == 2:
		err = hello(os.Args[1])
	case name == "ask" && len(os.Args) == 2:
		err = ask(os.Args[1])
	default:
		err = fmt.Errorf("call it as `pause`, as `hello ADDRESS:PORT` or as `ask URL`")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
