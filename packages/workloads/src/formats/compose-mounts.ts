/**
 * Ports, volumes and networks of a service in a compose file, in their short and long forms.
 *
 *   "8080:80"  "127.0.0.1:8080:80/udp"  "3000-3002:3000-3002"  "80"     [IP:][HOST:]CONTAINER[/PROTOCOL]; without HOST any port
 *   "./src:/app:ro"  "data:/var/lib/db"  "/cache"                       SOURCE:TARGET[:MODE]; a source with a slash is a folder
 */
import { isAbsolute, join } from 'node:path'
import { choiceOf, flagOf, pathOf, portOf, textOf, textsOf } from './field.ts'
import { objectName } from './shapes.ts'
import type { YamlValue } from './yaml-value.ts'

interface PublishedPort {
  readonly name: string
  readonly containerPort: number
  readonly hostPort?: number
  readonly hostIP?: string
  readonly protocol?: string
}

const protocols = { tcp: 'TCP', udp: 'UDP' } as const
const rangeMax = 100

export function portsOf(ports: YamlValue | undefined): readonly PublishedPort[] {
  if (ports && !ports.isList) ports.error('must be a list: ["8080:80"]')
  return (ports?.items() ?? []).flatMap((item) => (item.isMap ? longPort(item) : shortPorts(item)))
}

function longPort(item: YamlValue): readonly PublishedPort[] {
  const [containerPort, hostPort] = [portOf(item.take('target')), portOf(item.take('published'))]
  const hostIP = textOf(item.take('host_ip'))
  const protocol = choiceOf(item.take('protocol'), protocols)
  const name = textOf(item.take('name'))
  item.take('mode')
  for (const field of item.rest()) field.warn('not supported; it is ignored')
  if (containerPort === undefined) {
    if (item.findings.errors.every(({ line }) => line !== item.line)) item.error('has no target: write target: 80')
    return []
  }
  return [
    {
      name: (name === undefined ? undefined : objectName(name)) ?? nameOf(containerPort, protocol),
      containerPort,
      ...(hostPort !== undefined && { hostPort }),
      ...(hostIP !== undefined && { hostIP }),
      ...(protocol === 'UDP' && { protocol }),
    },
  ]
}

function nameOf(port: number, protocol: string | undefined): string {
  return `${protocol === 'UDP' ? 'udp' : 'port'}-${port}`
}

const portText =
  /^(?:(?<ip>\[[^\]]+\]|(?:\d+\.){3}\d+):)?(?:(?<host>\d*(?:-\d+)?):)?(?<container>\d+(?:-\d+)?)(?:\/(?<protocol>tcp|udp))?$/

function shortPorts(item: YamlValue): readonly PublishedPort[] {
  const text = textOf(item) ?? ''
  const groups = portText.exec(text)?.groups
  const containers = rangeOf(groups?.['container'])
  const host = groups?.['host'] ?? ''
  const hosts = host === '' ? undefined : (rangeOf(host) ?? [])
  if (!groups || !containers || (hosts && hosts.length !== containers.length)) {
    item.error(
      `must be CONTAINER, HOST:CONTAINER or IP:HOST:CONTAINER with ports from 1 to 65535, got ${JSON.stringify(text)}`,
    )
    return []
  }
  const protocol = groups['protocol'] === 'udp' ? 'UDP' : undefined
  const hostIP = groups['ip']?.replace(/^\[|\]$/g, '')
  return containers.map((containerPort, index) => {
    const hostPort = hosts?.[index]
    return {
      name: nameOf(containerPort, protocol),
      containerPort,
      ...(hostPort !== undefined && { hostPort }),
      ...(hostIP !== undefined && { hostIP }),
      ...(protocol && { protocol }),
    }
  })
}

/** `80` or `80-82`; undefined if it is no range of ports. */
function rangeOf(text: string | undefined): readonly number[] | undefined {
  if (text === undefined) return undefined
  const [first = 0, last = first] = text.split('-').map(Number)
  if (first < 1 || last > 65_535 || last < first || last - first >= rangeMax) return undefined
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/** A `volume` of ours, or a folder of this machine. */
interface Mount {
  readonly volume?: string
  readonly bind?: string
  readonly target: string
  readonly readOnly?: boolean
}

export function mountsOf(volumes: YamlValue | undefined, folder: string | undefined): readonly Mount[] {
  if (volumes && !volumes.isList) volumes.error('must be a list: [data:/var/lib/db]')
  return (volumes?.items() ?? []).flatMap((item) => (item.isMap ? longVolume(item, folder) : shortVolume(item, folder)))
}

function shortVolume(item: YamlValue, folder: string | undefined): readonly Mount[] {
  const text = pathOf(item)
  if (text === undefined || /^[A-Za-z]:[\\/]/.test(text)) return []
  const [first = '', second, mode = '', ...more] = text.split(':')
  if (more.length > 0 || first === '' || second === '') {
    item.error(`must be SOURCE:TARGET or SOURCE:TARGET:ro, got ${JSON.stringify(text)}`)
    return []
  }
  const modes = mode.split(',').filter(Boolean)
  for (const one of modes) if (!['ro', 'rw'].includes(one)) item.warn(`the mode ${one} is not supported; it is ignored`)
  if (second === undefined) return withoutName(item)
  return mountOf(item, { source: first, target: second, isReadOnly: modes.includes('ro'), folder })
}

function longVolume(item: YamlValue, folder: string | undefined): readonly Mount[] {
  const type = choiceOf(item.take('type'), { volume: 'volume', bind: 'bind' })
  const [source, target] = [pathOf(item.take('source')), textOf(item.take('target'))]
  const isReadOnly = flagOf(item.take('read_only')) ?? false
  for (const field of item.rest()) field.warn('not supported; it is ignored')
  if (target === undefined) item.error('has no target: write target: /path/in/container')
  if (target === undefined || type === undefined) return []
  if (source === undefined) return withoutName(item)
  return mountOf(item, {
    source: type === 'bind' && !/[/\\]|^[.~]/.test(source) ? `./${source}` : source,
    target,
    isReadOnly,
    folder,
  })
}

/** What is written there is gone with the container, as without it. */
function withoutName(item: YamlValue): readonly Mount[] {
  item.warn('a volume without a name is not supported; its files are in the container. Write NAME:/path to keep them')
  return []
}

interface MountOptions {
  readonly source: string
  readonly target: string
  readonly isReadOnly: boolean
  readonly folder: string | undefined
}

function mountOf(item: YamlValue, { source, target, isReadOnly, folder }: MountOptions): readonly Mount[] {
  const readOnly = isReadOnly && { readOnly: true }
  if (source.startsWith('~')) {
    item.error('~ is not supported: write $HOME')
    return []
  }
  if (/^\.|\//.test(source)) {
    const bind = folder === undefined || isAbsolute(source) ? source : `./${join(folder, source)}`
    return [{ bind, target, ...readOnly }]
  }
  const volume = objectName(source)
  return volume === undefined ? [] : [{ volume, target, ...readOnly }]
}

interface JoinedNetwork {
  readonly name: string
  readonly aliases?: readonly string[]
}

/** The networks of a service; without any, that of all services. */
export function networksOf(networks: YamlValue | undefined): readonly JoinedNetwork[] {
  if (!networks) return [{ name: 'default' }]
  const pairs = networks.isMap
    ? networks.entries()
    : networks.items().map((item) => [textOf(item) ?? '', undefined] as const)
  return pairs.flatMap(([written, network]) => {
    const name = objectName(written)
    const aliases = textsOf(network?.take('aliases'))
    for (const field of network?.rest() ?? []) field.warn('not supported; it is ignored')
    return name === undefined ? [] : [{ name, ...(aliases.length > 0 && { aliases }) }]
  })
}
