#!/usr/bin/env node
// Prints the folder that envtest takes as KUBEBUILDER_ASSETS.
console.log(__dirname)
