/**
 * `evenkeel kubeconfig`: how to reach the server of this folder, for other programs.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { loadConfig } from 'evenkeel/client'
import type { Command } from '../command.ts'
import { kubeconfigFor } from '../connection.ts'

export const kubeconfig: Command = {
  name: 'kubeconfig',
  about: 'print where the kubeconfig is, or the kubeconfig itself',
  options: { raw: { type: 'boolean', about: 'print the file, token included' } },
  details: 'export KUBECONFIG=$(evenkeel kubeconfig) makes kubectl and other clients talk to the same server.',
  examples: ['export KUBECONFIG=$(evenkeel kubeconfig)', 'evenkeel kubeconfig --raw > cluster.yaml'],
  async run({ values, io, json }) {
    const found = await kubeconfigFor(values, io)
    const context = values.text('context')
    const chosen = { ...(found !== undefined && { kubeconfig: found }), ...(context !== undefined && { context }) }
    // Read before it is shown: a path to nothing helps nobody.
    const { server, namespace } = await loadConfig(chosen)
    const path = resolve(io.cwd, found ?? io.env['KUBECONFIG'] ?? `${io.env['HOME'] ?? ''}/.kube/config`)
    if (values.flag('raw')) io.stdout.write(await readFile(path, 'utf8'))
    else io.stdout.write(json ? `${JSON.stringify({ path, server, namespace })}\n` : `${path}\n`)
    return 0
  },
}
