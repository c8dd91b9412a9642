package main

import (
	"os"

	helm "helm.sh/helm/v4/pkg/cmd"
	"helm.sh/helm/v4/pkg/kube"
)

func runHelm() error {
	// The owner of the fields that Helm applies. Without it they belong to whatever this program is called.
	kube.ManagedFieldsManager = "helm"
	command, err := helm.NewRootCmd(os.Stdout, os.Args[1:], helm.SetupLogging)
	if err != nil {
		return err
	}
	return command.Execute()
}
