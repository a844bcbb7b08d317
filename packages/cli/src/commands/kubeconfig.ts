/**
 * `evenkeel kubeconfig`: prints the kubeconfig of the server of this directory, or its path.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { loadConfig } from 'evenkeel/client'
import type { Command } from '../command.ts'
import { kubeconfigFor } from '../connection.ts'

export const kubeconfig: Command = {
  name: 'kubeconfig',
  about: 'print the path of the kubeconfig, or its content',
  options: { raw: { type: 'boolean', about: 'print the file, token included' } },
  details: 'With export KUBECONFIG=$(evenkeel kubeconfig), kubectl and other clients use the same server.',
  examples: ['export KUBECONFIG=$(evenkeel kubeconfig)', 'evenkeel kubeconfig --raw > cluster.yaml'],
  async run({ values, io, json }) {
    const found = await kubeconfigFor(values, io)
    const context = values.text('context')
    const chosen = { ...(found !== undefined && { kubeconfig: found }), ...(context !== undefined && { context }) }
    // Reads the file first: a path to a missing file is no help.
    const { server, namespace } = await loadConfig(chosen)
    const path = resolve(io.cwd, found ?? io.env['KUBECONFIG'] ?? `${io.env['HOME'] ?? ''}/.kube/config`)
    if (values.flag('raw')) io.stdout.write(await readFile(path, 'utf8'))
    else io.stdout.write(json ? `${JSON.stringify({ path, server, namespace })}\n` : `${path}\n`)
    return 0
  },
}
