/**
 * Probes of `process-compose.yaml`. Their defaults differ from ours, so that every period and timeout is written out.
 */
import { choiceOf, numberOf, portOf, textOf } from './field.ts'
import type { YamlValue } from './yaml-value.ts'

export function probesOf(process: YamlValue): Readonly<Record<string, unknown>> | undefined {
  const [readiness, liveness] = [process.take('readiness_probe'), process.take('liveness_probe')]
  const line = process.take('ready_log_line')
  if (readiness && line) line.error('a process has readiness_probe or ready_log_line, not both: remove one')
  const contains = textOf(line)
  const ready = readiness ? probeOf(readiness) : contains === undefined ? undefined : { logLine: { contains } }
  const alive = liveness && probeOf(liveness)
  return ready || alive ? { ...(ready && { readiness: ready }), ...(alive && { liveness: alive }) } : undefined
}

const defaults = {
  initial_delay_seconds: 0,
  period_seconds: 10,
  timeout_seconds: 1,
  success_threshold: 1,
  failure_threshold: 3,
}
const least: Readonly<Record<string, number>> = { initial_delay_seconds: 0 }

function probeOf(value: YamlValue): object | undefined {
  const [exec, http] = [value.take('exec'), value.take('http_get')]
  const seconds = (name: keyof typeof defaults): number =>
    numberOf(value.take(name), { least: least[name] ?? 1 }) ?? defaults[name]
  const check = http ? httpOf(http) : exec ? execOf(exec) : undefined
  if (!http && !exec) value.error('has no http_get and no exec: write one of them')
  const probe = {
    ...check,
    initialDelaySeconds: seconds('initial_delay_seconds'),
    periodSeconds: seconds('period_seconds'),
    timeoutSeconds: seconds('timeout_seconds'),
    successThreshold: seconds('success_threshold'),
    failureThreshold: seconds('failure_threshold'),
  }
  for (const field of value.rest()) field.warn('not supported; it is ignored')
  return check && probe
}

function execOf(value: YamlValue): object | undefined {
  const text = textOf(value.take('command'))
  const folder = value.take('working_dir')
  folder?.error('not supported: write cd FOLDER && before the command')
  for (const field of value.rest()) field.warn('not supported; it is ignored')
  if (text !== undefined) return { exec: { command: ['/bin/sh', '-c', text] } }
  value.error('has no command')
  return undefined
}

const localHosts = new Set(['localhost', '127.0.0.1', '0.0.0.0', '::1'])

function httpOf(value: YamlValue): object | undefined {
  const host = value.take('host')
  if (host && !localHosts.has(textOf(host) ?? '')) host.error('only programs on this machine are probed: remove it')
  const port = portOf(value.take('port'))
  if (port === undefined) value.error('has no port: write port: 8080')
  const status = value.take('status_code')
  if (status && status.text !== '200') status.warn('not supported: every code from 200 to 299 counts as healthy')
  const headers = value.take('headers')
  const path = textOf(value.take('path'))
  const scheme = choiceOf(value.take('scheme'), { http: 'http', https: 'https' })
  const pairs = headers?.isMap === true ? headers.entries().map(([name, one]) => [name, textOf(one) ?? '']) : []
  for (const field of value.rest()) field.warn('not supported; it is ignored')
  if (port === undefined) return undefined
  return {
    http: {
      port: String(port),
      ...(path !== undefined && { path: path.startsWith('/') ? path : `/${path}` }),
      ...(scheme !== undefined && { scheme }),
      ...(pairs.length > 0 && { headers: Object.fromEntries(pairs) as Record<string, string> }),
    },
  }
}
