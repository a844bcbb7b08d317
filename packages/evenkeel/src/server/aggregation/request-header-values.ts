/**
 * How aggregated API servers recognise this proxy: the request header values of the ConfigMap
 * `kube-system/extension-apiserver-authentication`, which they read at their start.
 *
 * Several servers on one store publish the authorities of all, each adds its own.
 */
import { isJsonObject, type JsonObject } from '#api'
import type { Transport } from '#wire'
import type { FrontProxyOptions } from '../auth/authentication-options.ts'
import { frontProxyName, type FrontProxyIdentity } from '../auth/front-proxy-identity.ts'

const path = '/api/v1/namespaces/kube-system/configmaps'
const name = 'extension-apiserver-authentication'
const authorityKey = 'requestheader-client-ca-file'
/** A server with a new authority at every start does not fill the ConfigMap. */
const authoritiesMax = 8

interface PublishedProxies {
  /** This server as a proxy. */
  readonly identity: FrontProxyIdentity
  /** The proxies before this server, if there are any: they may also be before aggregated ones. */
  readonly others?: FrontProxyOptions | undefined
}

/** The values to publish, given the published authorities. */
function requestHeaderValues({ identity, others }: PublishedProxies, published: string): Record<string, string> {
  const authorities = [published, others?.caPem ?? '', identity.authority.certificatePem].flatMap(certificatesIn)
  const names =
    others && (others.allowedNames ?? []).length === 0 ? [] : [...(others?.allowedNames ?? []), frontProxyName]
  return {
    'requestheader-allowed-names': JSON.stringify([...new Set(names)]),
    [authorityKey]: `${[...new Set(authorities)].slice(-authoritiesMax).join('\n')}\n`,
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  }
}

/** Writes the values into the ConfigMap, which is created if it does not exist. Other values stay. */
export async function publishRequestHeaderValues(transport: Transport, proxies: PublishedProxies): Promise<void> {
  const send = async (method: string, target: string, content?: { type: string; body: JsonObject }) =>
    transport({
      method,
      target,
      headers: content ? { 'content-type': content.type } : {},
      signal: new AbortController().signal,
      ...(content && { body: Buffer.from(JSON.stringify(content.body)) }),
    })
  const { status, body } = await send('GET', `${path}/${name}`)
  const found =
    status === 200 && body instanceof Uint8Array ? (JSON.parse(Buffer.from(body).toString()) as JsonObject) : {}
  const known = isJsonObject(found['data']) ? found['data'] : {}
  const data = requestHeaderValues(proxies, String(known[authorityKey] ?? ''))
  if (status === 404) await send('POST', path, { type: 'application/json', body: { metadata: { name }, data } })
  else if (Object.entries(data).some(([key, value]) => known[key] !== value))
    await send('PATCH', `${path}/${name}`, { type: 'application/merge-patch+json', body: { data } })
}

function certificatesIn(pem: string): string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
}
