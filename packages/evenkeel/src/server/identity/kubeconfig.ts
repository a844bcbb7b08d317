/**
 * The file by which kubectl and every other client finds the server and is let in.
 */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { writeOwnerFile } from './owner-files.ts'

export interface Kubeconfig {
  /** Where the server is: `https://127.0.0.1:6443`. */
  readonly server: string
  /** The authority to trust; none for a server without TLS. */
  readonly caPem?: string
  readonly token: string
  /**
   * What cluster, user and context are called.
   *
   * @default 'evenkeel'
   */
  readonly name?: string
}

/** Writes the file for its owner only, in place of what was there. It holds the token: whoever reads it is administrator. */
export async function writeKubeconfig(path: string, kubeconfig: Kubeconfig): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeOwnerFile(path, formatKubeconfig(kubeconfig))
}

function formatKubeconfig({ server, caPem, token, name = 'evenkeel' }: Kubeconfig): string {
  // A JSON text is a YAML text, and quotes whatever needs quoting.
  const quoted = JSON.stringify(name)
  const trust = caPem === undefined ? [] : [`    certificate-authority-data: ${Buffer.from(caPem).toString('base64')}`]
  return [
    'apiVersion: v1',
    'kind: Config',
    `current-context: ${quoted}`,
    'clusters:',
    `- name: ${quoted}`,
    '  cluster:',
    `    server: ${JSON.stringify(server)}`,
    ...trust,
    'users:',
    `- name: ${quoted}`,
    '  user:',
    `    token: ${JSON.stringify(token)}`,
    'contexts:',
    `- name: ${quoted}`,
    '  context:',
    `    cluster: ${quoted}`,
    `    user: ${quoted}`,
    '',
  ].join('\n')
}
