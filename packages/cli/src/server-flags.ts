/**
 * The options of `evenkeel serve` that configure the API server, named as those of kube-apiserver where it has them.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { DataPlaneOptions } from 'evenkeel/server'
import type { Io, OptionSpecs, OptionValues } from './command.ts'
import { Failure } from './failure.ts'

export const serverFlags: OptionSpecs = {
  host: {
    type: 'string',
    value: 'ADDRESS',
    about: 'the address to listen on; with any but loopback other machines can connect (default: 127.0.0.1)',
  },
  name: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    about: 'an additional name or address in the certificate of the server',
  },
  'token-auth-file': {
    type: 'string',
    value: 'FILE',
    about: 'bearer tokens, a line each: token,user,uid,"group1,group2"',
  },
  'client-ca-file': {
    type: 'string',
    multiple: true,
    value: 'FILE',
    about: 'an additional authority of client certificates, in PEM',
  },
  'proxy-client-cert-file': {
    type: 'string',
    value: 'FILE',
    about: 'the client certificate for aggregated API servers, in PEM (default: one that the server issues)',
  },
  'proxy-client-key-file': { type: 'string', value: 'FILE', about: 'the key of that certificate, in PEM' },
  'requestheader-client-ca-file': {
    type: 'string',
    value: 'FILE',
    about: 'the authority of proxies that name the user in X-Remote- headers, in PEM',
  },
  'requestheader-allowed-names': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    about: 'the common name of such a proxy (default: every certificate of the authority)',
  },
  'requestheader-username-headers': {
    type: 'string',
    multiple: true,
    value: 'HEADER',
    about: 'a header with the user (default: X-Remote-User)',
  },
  'requestheader-group-headers': {
    type: 'string',
    multiple: true,
    value: 'HEADER',
    about: 'a header with the groups (default: X-Remote-Group)',
  },
  'requestheader-uid-headers': {
    type: 'string',
    multiple: true,
    value: 'HEADER',
    about: 'a header with the uid (default: X-Remote-Uid)',
  },
  'requestheader-extra-headers-prefix': {
    type: 'string',
    multiple: true,
    value: 'PREFIX',
    about: 'the prefix of headers with extra values (default: X-Remote-Extra-)',
  },
  'authorization-mode': {
    type: 'string',
    choices: ['rbac', 'always-allow'],
    about: 'how requests are authorized (default: rbac)',
  },
  'anonymous-auth': { type: 'boolean', about: 'accept requests without credentials, as system:anonymous' },
  'enable-admission-plugins': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    about: 'an admission plugin to run in addition to the default ones: OwnerReferencesPermissionEnforcement',
  },
  'disable-admission-plugins': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    about: 'an admission plugin not to run, such as PodSecurity or ServiceAccount',
  },
  'service-cluster-ip-range': {
    type: 'string',
    value: 'CIDR',
    about: 'the range of cluster IPs of Services; two with a comma for both families (default: 10.96.0.0/12)',
  },
  'feature-gates': {
    type: 'string',
    multiple: true,
    value: 'NAME=true',
    about: 'features that Kubernetes has off by default: CBORServingAndStorage',
  },
  limit: {
    type: 'string',
    multiple: true,
    value: 'NAME=NUMBER',
    about: 'a limit of requests: writesMax, watchesPerUserMax, requestMs and others',
  },
  'resolve-service': {
    type: 'string',
    multiple: true,
    value: 'NAMESPACE/NAME=HOST:PORT',
    about: 'the address for webhooks and aggregated API servers of a Service',
  },
}

type FeatureGates = NonNullable<DataPlaneOptions['featureGates']>

type ServerFlags = Pick<
  DataPlaneOptions,
  | 'host'
  | 'names'
  | 'authentication'
  | 'authorization'
  | 'admission'
  | 'featureGates'
  | 'limits'
  | 'webhooks'
  | 'proxyClient'
  | 'serviceClusterIpRanges'
>

/** @throws {Failure} `usage` or `bad-file` */
export async function readServerFlags(values: OptionValues, { cwd }: Pick<Io, 'cwd'>): Promise<ServerFlags> {
  const tokenFile = values.text('token-auth-file')
  const mode = values.text('authorization-mode')
  const clientCaPems = await Promise.all(
    values.texts('client-ca-file').map((file) => readFile(resolve(cwd, file), 'utf8')),
  )
  const services = servicesOf(values.texts('resolve-service'))
  const [frontProxy, proxyClient] = [await frontProxyOf(values, cwd), await proxyClientOf(values, cwd)]
  const ranges = values.text('service-cluster-ip-range')
  return {
    host: values.text('host'),
    names: values.texts('name'),
    authentication: {
      anonymous: values.flag('anonymous-auth'),
      clientCaPems,
      ...(frontProxy && { frontProxy }),
      ...(tokenFile !== undefined && { tokenFile: resolve(cwd, tokenFile) }),
    },
    ...(mode !== undefined && { authorization: mode as 'rbac' | 'always-allow' }),
    admission: await admissionOf(values),
    featureGates: gatesOf(values.texts('feature-gates').flatMap((text) => text.split(','))),
    limits: limitsOf(values.texts('limit')),
    ...(proxyClient && { proxyClient }),
    ...(ranges !== undefined && { serviceClusterIpRanges: ranges.split(',') }),
    ...(services.size > 0 && { webhooks: { resolveService: (service) => addressOf(services, service) } }),
  }
}

async function frontProxyOf(
  values: OptionValues,
  cwd: string,
): Promise<NonNullable<DataPlaneOptions['authentication']>['frontProxy']> {
  const file = values.text('requestheader-client-ca-file')
  if (file === undefined) return undefined
  // As kube-apiserver, a flag may have several values in one.
  const listOf = (name: string): string[] => values.texts(name).flatMap((text) => text.split(','))
  const given = {
    allowedNames: listOf('requestheader-allowed-names'),
    usernameHeaders: listOf('requestheader-username-headers'),
    groupHeaders: listOf('requestheader-group-headers'),
    uidHeaders: listOf('requestheader-uid-headers'),
    extraHeaderPrefixes: listOf('requestheader-extra-headers-prefix'),
  }
  return {
    caPem: await readFile(resolve(cwd, file), 'utf8'),
    ...Object.fromEntries(Object.entries(given).filter(([, texts]) => texts.length > 0)),
  }
}

async function proxyClientOf(values: OptionValues, cwd: string): Promise<DataPlaneOptions['proxyClient']> {
  const [certificate, key] = [values.text('proxy-client-cert-file'), values.text('proxy-client-key-file')]
  if ((certificate === undefined) !== (key === undefined))
    throw new Failure('usage', '--proxy-client-cert-file and --proxy-client-key-file belong together')
  if (certificate === undefined || key === undefined) return undefined
  const [certificatePem, keyPem] = await Promise.all([
    readFile(resolve(cwd, certificate), 'utf8'),
    readFile(resolve(cwd, key), 'utf8'),
  ])
  return { certificatePem, keyPem }
}

const gateNames: readonly (keyof FeatureGates)[] = ['CBORServingAndStorage']

function gatesOf(texts: readonly string[]): FeatureGates {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^(\w+)=(true|false)$/.exec(text) ?? []
      const problem = name === undefined ? 'must be NAME=true or NAME=false' : 'names an unknown feature gate'
      if (!gateNames.some((known) => known === name))
        throw new Failure('usage', `--feature-gates ${problem}: ${JSON.stringify(text)}`, {
          hint: `known feature gates: ${gateNames.join(', ')}`,
        })
      return [name, value === 'true']
    }),
  )
}

type PluginName = NonNullable<NonNullable<DataPlaneOptions['admission']>['enablePlugins']>[number]

async function admissionOf(values: OptionValues): Promise<NonNullable<DataPlaneOptions['admission']>> {
  const enablePlugins = await pluginsOf('enable-admission-plugins', values)
  const disablePlugins = await pluginsOf('disable-admission-plugins', values)
  const both = enablePlugins.find((name) => disablePlugins.includes(name))
  if (both !== undefined)
    throw new Failure('usage', `--enable-admission-plugins and --disable-admission-plugins both name ${both}`)
  return { enablePlugins, disablePlugins }
}

/** Names can be repeated options, or one option with commas, as with kube-apiserver. */
async function pluginsOf(option: string, values: OptionValues): Promise<PluginName[]> {
  const names = values.texts(option).flatMap((text) => text.split(',').filter((name) => name !== ''))
  if (names.length === 0) return []
  const { admissionPluginNames } = await import('evenkeel/server')
  const known: readonly string[] = admissionPluginNames
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new Failure('usage', `--${option}: unknown plugin ${JSON.stringify(unknown)}`, {
      hint: `choose from ${known.join(', ')}`,
    })
  return names as PluginName[]
}

function limitsOf(texts: readonly string[]): NonNullable<DataPlaneOptions['limits']> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, number] = /^(\w+)=([\d_.]+)$/.exec(text) ?? []
      if (name === undefined || number === undefined)
        throw new Failure('usage', `--limit must be NAME=NUMBER, got ${JSON.stringify(text)}`, {
          hint: '--limit writesMax=50',
        })
      return [name, Number(number.replaceAll('_', ''))]
    }),
  )
}

interface Address {
  readonly host: string
  readonly port: number
}

function servicesOf(texts: readonly string[]): Map<string, Address> {
  return new Map(
    texts.map((text) => {
      const [, service, host, port] = /^([\w.-]+\/[\w.-]+)=(.+):(\d{1,5})$/.exec(text) ?? []
      if (service === undefined || host === undefined)
        throw new Failure('usage', `--resolve-service must be NAMESPACE/NAME=HOST:PORT, got ${JSON.stringify(text)}`, {
          hint: '--resolve-service default/hooks=127.0.0.1:9443',
        })
      return [service, { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }]
    }),
  )
}

function addressOf(
  services: ReadonlyMap<string, Address>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Address {
  const found = services.get(`${namespace}/${name}`)
  if (found) return found
  throw new Error(`no address of the Service ${namespace}/${name}: start the server with --resolve-service`)
}
