/**
 * `evenkeel envtest`: prints the folder with the programs that envtest starts.
 */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from '../command.ts'

export const envtest: Command = {
  name: 'envtest',
  about: 'print the folder that envtest takes as KUBEBUILDER_ASSETS',
  options: {},
  details:
    'The folder has programs with the command lines of kube-apiserver and etcd. A Go project needs no other change.',
  examples: ['KUBEBUILDER_ASSETS=$(npx evenkeel envtest) go test ./...'],
  run({ io, json }) {
    const folder = join(dirname(fileURLToPath(import.meta.resolve('evenkeel/package.json'))), 'envtest')
    io.stdout.write(`${json ? JSON.stringify({ folder }) : folder}\n`)
    return Promise.resolve(0)
  },
}
