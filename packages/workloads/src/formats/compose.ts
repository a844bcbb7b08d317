/**
 * A part of `compose.yaml`: services become Containers, with the networks and volumes that they name.
 *
 *   services.NAME      Container; the table of fields is in docs/guides/coming-from-compose.md, and a test compares it with this file
 *   volumes.NAME       ContainerVolume
 *   networks.NAME      ContainerNetwork. Services without networks join one called `default`, as there
 *   x-NAME             nothing: a place for anchors
 *
 * What would change the meaning (extends, include, secrets, configs, deploy, privileges) is an error that says what to write instead;
 * every other field is named in a warning.
 */
import { Findings, type FileContents, type FileObject } from './finding.ts'
import { flagOf, textOf, textsOf } from './field.ts'
import { containerSpecOf, labelsOf } from './compose-service.ts'
import { interpolation, type Environment } from './interpolation.ts'
import { objectName, workloadObject } from './shapes.ts'
import { parseYaml, type YamlValue } from './yaml-value.ts'

export interface ComposeOptions {
  readonly file: string
  /** Of the file, from where relative paths begin. @default the same */
  readonly folder?: string | undefined
  /** What stands for variables in values, and for variables without a value. @default nothing is set */
  readonly env?: Environment
  /** Services with one of these profiles take part. @default those of `COMPOSE_PROFILES` */
  readonly profiles?: readonly string[]
}

const refusedOfProject: Readonly<Record<string, string>> = {
  include: 'not supported: name the files instead, evenkeel run compose.yaml other/compose.yaml',
  secrets: 'not supported: put the values into a file of env_file that is not committed, or mount the file as a volume',
  configs: 'not supported: mount the file as a volume, ./app.conf:/etc/app.conf:ro',
  models: 'not supported: run the model as a service of its own',
}

export async function readComposeFile(text: string, options: ComposeOptions): Promise<FileContents> {
  const { file, env = {} } = options
  const findings = new Findings()
  const [project] = await parseYaml(text, { file, findings, expand: interpolation({ env, findings }) })
  if (!project) return findings.contents([])
  for (const name of ['version', 'name']) project.take(name)
  for (const [name, message] of Object.entries(refusedOfProject)) project.take(name)?.error(message)
  const services = project.take('services')
  if (services?.isMap !== true) findings.error(services ?? project, 'services must be a map: NAME: { image: ... }')
  const profiles = new Set(options.profiles ?? (env['COMPOSE_PROFILES'] ?? '').split(',').filter(Boolean))
  const containers = (services?.isMap === true ? services.entries() : []).flatMap(([name, service]) =>
    containerOf(name, service, { ...options, profiles }),
  )
  const objects = [
    ...volumesOf(project.take('volumes')),
    ...networksOf(project.take('networks'), { containers, services }),
    ...containers,
  ]
  for (const value of project.rest()) if (!value.path.startsWith('x-')) value.warn('not supported; it is ignored')
  return findings.contents(objects)
}

interface ServiceOptions extends Omit<ComposeOptions, 'profiles'> {
  readonly profiles: ReadonlySet<string>
}

function containerOf(written: string, service: YamlValue, options: ServiceOptions): readonly FileObject[] {
  const name = objectName(written)
  if (name === undefined || !service.isMap) {
    service.error(name === undefined ? 'the name has no letter or digit: rename it' : 'must be a map: { image: ... }')
    return []
  }
  const wanted = textsOf(service.take('profiles'))
  if (wanted.length > 0 && !wanted.some((profile) => options.profiles.has(profile))) {
    service.warn(`is left out: COMPOSE_PROFILES=${wanted[0] ?? ''} includes it`)
    return []
  }
  if (name !== written)
    service.warn(`is called ${name}: objects have names in lower case without _; other services reach it by that name`)
  const spec = containerSpecOf(service, options)
  for (const field of service.rest()) if (!/\.x-[^.]*$/.test(field.path)) field.warn('not supported; it is ignored')
  return [{ object: workloadObject('Container', { name }, spec), file: service.file, line: service.line }]
}

/** A volume of others is used and never deleted. */
function volumesOf(volumes: YamlValue | undefined): readonly FileObject[] {
  return (volumes?.entries() ?? []).flatMap(([written, volume]) => {
    const isExternal = volume.isMap && (flagOf(volume.take('external')) ?? false)
    const name = (volume.isMap ? textOf(volume.take('name')) : undefined) ?? (isExternal ? written : undefined)
    const labels = volume.isMap ? labelsOf(volume.take('labels')) : undefined
    return namedObject('ContainerVolume', { written, value: volume, spec: { volumeName: name, labels } })
  })
}

interface NetworkOptions {
  readonly containers: readonly FileObject[]
  readonly services: YamlValue | undefined
}

/** Those that are described, and `default` if a service has none. */
function networksOf(networks: YamlValue | undefined, { containers, services }: NetworkOptions): readonly FileObject[] {
  const described = (networks?.entries() ?? []).flatMap(([written, network]) => {
    const isExternal = network.isMap && (flagOf(network.take('external')) ?? false)
    const name = (network.isMap ? textOf(network.take('name')) : undefined) ?? (isExternal ? written : undefined)
    const spec = {
      networkName: name,
      ...(isExternal && { existing: true }),
      internal: network.isMap ? flagOf(network.take('internal')) : undefined,
      ipv6: network.isMap ? flagOf(network.take('enable_ipv6')) : undefined,
      labels: network.isMap ? labelsOf(network.take('labels')) : undefined,
    }
    return namedObject('ContainerNetwork', { written, value: network, spec })
  })
  const usesDefault = containers.some(({ object }) =>
    ((object.spec?.['networks'] ?? []) as readonly { readonly name: string }[]).some(
      ({ name }) => name === defaultNetwork,
    ),
  )
  if (!usesDefault || described.some(({ object }) => object.metadata.name === defaultNetwork)) return described
  const place = { file: services?.file ?? '', line: services?.line ?? 1 }
  return [...described, { object: workloadObject('ContainerNetwork', { name: defaultNetwork }, {}), ...place }]
}

const defaultNetwork = 'default'

interface Described {
  readonly written: string
  readonly value: YamlValue
  readonly spec: Readonly<Record<string, unknown>>
}

function namedObject(
  kind: 'ContainerVolume' | 'ContainerNetwork',
  { written, value, spec }: Described,
): readonly FileObject[] {
  const name = objectName(written)
  if (name === undefined) {
    value.error('the name has no letter or digit: rename it')
    return []
  }
  const driver = value.isMap ? value.take('driver') : undefined
  const expected = kind === 'ContainerVolume' ? 'local' : 'bridge'
  if (driver && textOf(driver) !== expected) driver.warn(`not supported: it is a ${expected} one`)
  for (const field of value.rest()) field.warn('not supported; it is ignored')
  return [{ object: workloadObject(kind, { name }, spec), file: value.file, line: value.line }]
}
