/**
 * `evenkeel kubeconfig`: prints the kubeconfig of the server of this directory, or its path.
 */
import { readFile } from 'node:fs/promises'
import type { Command } from '../command.ts'
import { configFor } from '../connection.ts'

export const kubeconfig: Command = {
  name: 'kubeconfig',
  about: 'print the path of the kubeconfig, or its content',
  options: { raw: { type: 'boolean', about: 'print the file, token included' } },
  details: 'With export KUBECONFIG=$(evenkeel kubeconfig), kubectl and other clients use the same server.',
  examples: ['export KUBECONFIG=$(evenkeel kubeconfig)', 'evenkeel kubeconfig --raw > cluster.yaml'],
  async run({ values, io, json }) {
    // Reads the file first: a path to a missing file is no help.
    const { config, path } = await configFor(values, io)
    const { server, namespace } = config
    if (values.flag('raw')) io.stdout.write(await readFile(path, 'utf8'))
    else io.stdout.write(json ? `${JSON.stringify({ path, server, namespace })}\n` : `${path}\n`)
    return 0
  },
}
