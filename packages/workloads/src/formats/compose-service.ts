/**
 * One service of a compose file as the spec of a Container.
 *
 * `entrypoint` is the `command` of a Container and `command` its `args`, as in Kubernetes. A command that is a text is split into
 * words without a shell, as there.
 */
import { join } from 'node:path'
import { choiceOf, commandOf, flagOf, numberOf, pathOf, secondsOf, textOf, textsOf, variablesOf } from './field.ts'
import type { ComposeOptions } from './compose.ts'
import { mountsOf, networksOf, portsOf } from './compose-mounts.ts'
import { objectName } from './shapes.ts'
import type { YamlValue } from './yaml-value.ts'

type ServiceContext = Pick<ComposeOptions, 'folder' | 'env'>

/** Fields that would change the meaning of a service if they were ignored. */
const refusedOfService: Readonly<Record<string, string>> = {
  extends:
    'not supported: write the fields of the other service here, or share them with an anchor (x-base: &base, <<: *base)',
  deploy: 'not supported: remove it; copies of a program are a ProcessSet in evenkeel.yaml',
  scale: 'not supported: copies of a program are a ProcessSet in evenkeel.yaml',
  secrets: 'not supported: use env_file with a file that is not committed, or mount the file as a volume',
  configs: 'not supported: mount the file as a volume, ./app.conf:/etc/app.conf:ro',
  network_mode: 'not supported: publish ports, or name networks',
  privileged: 'not supported: a Container has no more rights than its runtime gives it',
  cap_add: 'not supported: a Container has no more rights than its runtime gives it',
  devices: 'not supported: a Container has no devices of the machine',
  volumes_from: 'not supported: name the volumes of the other service',
  links: 'not supported: services of one network reach each other by name, remove it',
  provider: 'not supported: describe a container',
  use_api_socket: 'not supported: mount the socket as a volume if you must',
}

export function containerSpecOf(service: YamlValue, context: ServiceContext): Readonly<Record<string, unknown>> {
  for (const [name, message] of Object.entries(refusedOfService)) refuse(service.take(name), message)
  const [image, build] = [textOf(service.take('image')), service.take('build')]
  if (image === undefined && !build) service.error('has neither image nor build: write image: NAME')
  const healthcheck = service.take('healthcheck')
  // What another container may reach: on its networks it can reach every port.
  service.take('expose')
  return {
    image,
    build: build && buildOf(build, context),
    command: commandOf(service.take('entrypoint')),
    args: commandOf(service.take('command')),
    workingDir: textOf(service.take('working_dir')),
    user: textOf(service.take('user')),
    env: envOf(service.take('environment'), context),
    envFiles: envFilesOf(service.take('env_file'), context),
    ports: portsOf(service.take('ports')),
    volumeMounts: mountsOf(service.take('volumes'), context.folder),
    networks: networksOf(service.take('networks')),
    dependsOn: dependsOnOf(service.take('depends_on')),
    probes: healthcheck && probesOf(healthcheck),
    restart: restartOf(service.take('restart')),
    stop: stopOf(service),
    containerName: textOf(service.take('container_name')),
    pullPolicy: choiceOf(service.take('pull_policy'), pullPolicies),
    labels: labelsOf(service.take('labels')),
  }
}

function refuse(field: YamlValue | undefined, message: string): void {
  if (field && field.text !== 'false') field.error(message)
}

function buildOf(build: YamlValue, { folder, env = {} }: ServiceContext) {
  const at = (path: string): string => (folder === undefined ? path : join(folder, path))
  if (!build.isMap) return { context: at(pathOf(build) ?? '.') }
  const context = pathOf(build.take('context')) ?? '.'
  if (/^(?:https?|git|ssh):|^git@/.test(context)) build.error('context must be a folder of this machine')
  const args = variablesOf(build.take('args')).map(({ name, value }) => ({ name, value: value ?? env[name] ?? '' }))
  const [dockerfile, target] = [textOf(build.take('dockerfile')), textOf(build.take('target'))]
  build.take('dockerfile_inline')?.error('not supported: write the text into a Dockerfile')
  for (const field of build.rest()) field.warn('not supported; it is ignored')
  return {
    context: at(context),
    ...(dockerfile !== undefined && { dockerfile }),
    ...(target !== undefined && { target }),
    ...(args.length > 0 && { args }),
  }
}

/** A variable without a value is that of Evenkeel, if it is set. */
function envOf(environment: YamlValue | undefined, { env = {} }: ServiceContext) {
  return variablesOf(environment).flatMap(({ name, value = env[name] }) =>
    value === undefined ? [] : [{ name, value }],
  )
}

function envFilesOf(files: YamlValue | undefined, { folder }: ServiceContext) {
  if (!files) return []
  const items = files.isList ? files.items() : [files]
  return items.flatMap((item) => {
    const path = pathOf(item.isMap ? item.take('path') : item)
    const required = item.isMap ? flagOf(item.take('required')) : undefined
    if (item.isMap && item.take('format')?.text === 'raw') item.warn('format is not supported: quotes are removed')
    if (path === undefined) return []
    return [{ path: folder === undefined ? path : join(folder, path), ...(required === false && { optional: true }) }]
  })
}

const untils = {
  service_started: 'Started',
  service_healthy: 'Ready',
  service_completed_successfully: 'Completed',
} as const

function dependsOnOf(value: YamlValue | undefined) {
  if (!value) return []
  const pairs = value.isMap
    ? value.entries()
    : value.items().flatMap((item) => [[textOf(item) ?? '', undefined] as const])
  return pairs.flatMap(([written, one]) => {
    const name = objectName(written)
    const until = choiceOf(one?.take('condition'), untils) ?? 'Started'
    const isRequired = flagOf(one?.take('required')) ?? true
    const restart = one?.take('restart')
    if (flagOf(restart) === true) restart?.warn('not supported: it goes on when the other one is restarted')
    for (const field of one?.rest() ?? []) field.warn('not supported; it is ignored')
    return name === undefined ? [] : [{ kind: 'Container', name, until, ...(!isRequired && { optional: true }) }]
  })
}

const probeDefaults = { interval: 30, timeout: 30, start: 0, retries: 3 }

function probesOf(healthcheck: YamlValue): object | undefined {
  const disable = flagOf(healthcheck.take('disable')) ?? false
  const test = healthcheck.take('test')
  const command = test && testOf(test)
  const seconds = (name: string, otherwise: number): number => secondsOf(healthcheck.take(name)) ?? otherwise
  const probe = {
    periodSeconds: seconds('interval', probeDefaults.interval),
    timeoutSeconds: seconds('timeout', probeDefaults.timeout),
    initialDelaySeconds: seconds('start_period', probeDefaults.start),
    failureThreshold: numberOf(healthcheck.take('retries'), { least: 1 }) ?? probeDefaults.retries,
  }
  for (const field of healthcheck.rest()) field.warn('not supported; it is ignored')
  if (disable || command === 'NONE') return undefined
  if (command === undefined) {
    if (!test) healthcheck.error('has no test: write test: [CMD, curl, -f, http://localhost/]')
    return undefined
  }
  return { readiness: { exec: { command }, ...probe } }
}

/** A text runs in a shell; a list begins with CMD, CMD-SHELL or NONE. */
function testOf(test: YamlValue): readonly string[] | 'NONE' | undefined {
  if (!test.isList) {
    const text = textOf(test)
    return text === undefined ? undefined : ['/bin/sh', '-c', text]
  }
  const [first, ...rest] = textsOf(test)
  if (first === 'NONE') return 'NONE'
  if (first === 'CMD' && rest.length > 0) return rest
  if (first === 'CMD-SHELL' && rest.length === 1) return ['/bin/sh', '-c', rest[0] ?? '']
  test.error('must begin with CMD and a program, CMD-SHELL and one text, or be NONE')
  return undefined
}

function restartOf(restart: YamlValue | undefined): object {
  const text = textOf(restart) ?? 'no'
  const [, limit] = /^on-failure:(\d+)$/.exec(text) ?? []
  if (limit !== undefined) return { policy: 'OnFailure', limit: Number(limit) }
  const policies: Readonly<Record<string, string>> = {
    no: 'Never',
    false: 'Never',
    always: 'Always',
    'unless-stopped': 'Always',
    'on-failure': 'OnFailure',
  }
  const policy = policies[text]
  if (policy === undefined) restart?.error(`must be no, always, unless-stopped or on-failure[:COUNT], got ${text}`)
  return { policy: policy ?? 'Never' }
}

function stopOf(service: YamlValue): object | undefined {
  const field = service.take('stop_signal')
  const name = textOf(field)
  const signal = name === undefined || name.startsWith('SIG') ? name : `SIG${name}`
  const known = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGKILL']
  if (signal !== undefined && !known.includes(signal)) field?.error(`must be one of ${known.join(', ')}, got ${name}`)
  const grace = secondsOf(service.take('stop_grace_period'))
  const stop = { ...(signal !== undefined && { signal }), ...(grace !== undefined && { gracePeriodSeconds: grace }) }
  return Object.keys(stop).length > 0 ? stop : undefined
}

const pullPolicies = {
  always: 'Always',
  missing: 'IfNotPresent',
  if_not_present: 'IfNotPresent',
  never: 'Never',
} as const

/** Of the container: a map, or a list of `NAME=VALUE`. */
export function labelsOf(labels: YamlValue | undefined): Readonly<Record<string, string>> | undefined {
  const pairs = variablesOf(labels).map(({ name, value = '' }) => [name, value] as const)
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined
}
