/**
 * The kubeconfig: the address, the authority and the credentials with which kubectl and other clients connect.
 */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { CertificateKeyPair } from '#wire'
import { writeSecretFile } from './secret-files.ts'

export interface Kubeconfig {
  /** The address of the server: `https://127.0.0.1:6443`. */
  readonly server: string
  /** The authority to trust; none for a server without TLS. */
  readonly caPem?: string
  /** The credentials of the user: a bearer token, */
  readonly token?: string
  /** or a client certificate, as {@link issueClient} makes one, or both. */
  readonly client?: CertificateKeyPair
  /**
   * The name of the cluster, user and context.
   *
   * @default 'evenkeel'
   */
  readonly name?: string
  /**
   * The namespace of the context.
   *
   * @default 'default'
   */
  readonly namespace?: string
}

/** Writes the file readable for its owner only, and replaces an existing one. It holds credentials. */
export async function writeKubeconfig(path: string, kubeconfig: Kubeconfig): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeSecretFile(path, formatKubeconfig(kubeconfig))
}

function formatKubeconfig({
  server,
  caPem,
  token,
  client,
  name = 'evenkeel',
  namespace = 'default',
}: Kubeconfig): string {
  // JSON is valid YAML, with all necessary quotes.
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
    `    namespace: ${JSON.stringify(namespace)}`,
    '',
  ].join('\n')
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
