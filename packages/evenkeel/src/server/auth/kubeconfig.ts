/**
 * The file by which kubectl and every other client finds the server and is let in.
 */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { CertificateKeyPair } from '#wire'
import { writeSecretFile } from './secret-files.ts'

export interface Kubeconfig {
  /** Where the server is: `https://127.0.0.1:6443`. */
  readonly server: string
  /** The authority to trust; none for a server without TLS. */
  readonly caPem?: string
  /** What the user is known by: a bearer token, */
  readonly token?: string
  /** or a client certificate, as {@link issueClient} makes one. */
  readonly client?: CertificateKeyPair
  /**
   * What cluster, user and context are called.
   *
   * @default 'evenkeel'
   */
  readonly name?: string
}

/** Writes the file for its owner only, in place of what was there. It holds the credentials: whoever reads it is that user. */
export async function writeKubeconfig(path: string, kubeconfig: Kubeconfig): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeSecretFile(path, formatKubeconfig(kubeconfig))
}

function formatKubeconfig({ server, caPem, token, client, name = 'evenkeel' }: Kubeconfig): string {
  // A JSON text is a YAML text, and quotes whatever needs quoting.
  const quoted = JSON.stringify(name)
  const trust = caPem === undefined ? [] : [`    certificate-authority-data: ${base64(caPem)}`]
  if (token === undefined && client === undefined)
    throw new RangeError('a kubeconfig needs a token or a client certificate')
  const proofs = [
    ...(token === undefined ? [] : [`    token: ${JSON.stringify(token)}`]),
    ...(client === undefined
      ? []
      : [
          `    client-certificate-data: ${base64(client.certificatePem)}`,
          `    client-key-data: ${base64(client.keyPem)}`,
        ]),
  ]
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
    ...proofs,
    'contexts:',
    `- name: ${quoted}`,
    '  context:',
    `    cluster: ${quoted}`,
    `    user: ${quoted}`,
    '',
  ].join('\n')
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
