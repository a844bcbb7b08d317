/**
 * `evenkeel doctor`: checks Node, kubectl, the server, the user and the managers; each problem has advice.
 */
import { spawnSync } from 'node:child_process'
import type { Client } from 'evenkeel/client'
import { SystemClock } from 'evenkeel/unstable/base'
import type { Command, Invocation } from '../command.ts'
import { configFor } from '../connection.ts'
import { failureOf } from '../failure.ts'
import { managerOptions, readManager } from '../managers.ts'
import { safeText } from '../terminal.ts'

interface CheckResult {
  readonly check: string
  readonly ok: boolean
  readonly says: string
  readonly advice?: string | undefined
}

export const doctor: Command = {
  name: 'doctor',
  about: 'check this machine, the server and the manager',
  options: managerOptions,
  details: 'Exit code 1: a check failed that commands depend on.',
  examples: ['evenkeel doctor', 'evenkeel doctor --json'],
  async run(call) {
    const findings = [nodeVersion(), kubectl(), ...(await server(call)), ...(await manager(call))]
    const { stdout } = call.io
    if (call.json) stdout.write(`${JSON.stringify(findings)}\n`)
    else
      for (const { check, ok, says, advice } of findings)
        stdout.write(
          safeText(`${ok ? '✓' : '✗'} ${check}: ${says}\n${advice === undefined ? '' : `  try: ${advice}\n`}`),
        )
    return findings.every(({ ok }) => ok) ? 0 : 1
  },
}

function nodeVersion(): CheckResult {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const ok = major > 20 || (major === 20 && minor >= 19)
  return { check: 'Node', ok, says: process.versions.node, advice: ok ? undefined : 'install Node 20.19 or newer' }
}

/** Optional: every command works without kubectl. */
function kubectl(): CheckResult {
  const { status, stdout } = spawnSync('kubectl', ['version', '--client', '-o', 'json'], {
    encoding: 'utf8',
    timeout: 10_000,
  })
  const version = status === 0 ? /"gitVersion": "([^"]+)"/.exec(stdout)?.[1] : undefined
  return { check: 'kubectl', ok: true, says: version ?? 'not installed; evenkeel does not need it' }
}

async function server(call: Invocation): Promise<readonly CheckResult[]> {
  const { values, io } = call
  try {
    const { config } = await configFor(values, io)
    const client = await call.connect()
    const clock = new SystemClock()
    const started = clock.monotonic()
    const version = JSON.parse((await client.raw({ path: '/version' }, { signal: io.signal })).text()) as {
      gitVersion?: string
    }
    const found: CheckResult = {
      check: 'server',
      ok: true,
      says: `${config.server} responds in ${Math.round(clock.monotonic() - started)} ms, ${version.gitVersion ?? 'unknown version'}`,
    }
    return [found, await who(client, io.signal), await kinds(client)]
  } catch (error) {
    const failure = failureOf(error)
    if (!failure) throw error
    return [
      {
        check: 'server',
        ok: false,
        says: failure.message,
        advice:
          failure.code === 'no-server'
            ? 'evenkeel up starts a server; KUBECONFIG or --kubeconfig names another'
            : failure.hints[0],
      },
    ]
  }
}

async function who(client: Client, signal: AbortSignal): Promise<CheckResult> {
  try {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const answer = await client.raw(
      {
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        body: review,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
      },
      { signal },
    )
    const { status } = JSON.parse(answer.text()) as {
      status?: { userInfo?: { username?: string; groups?: readonly string[] } }
    }
    return {
      check: 'identity',
      ok: true,
      says: `${status?.userInfo?.username ?? 'unknown user'}, groups ${(status?.userInfo?.groups ?? []).join(', ')}`,
    }
  } catch (error) {
    return {
      check: 'identity',
      ok: false,
      says: (error as Error).message,
      advice: 'check the user of the kubeconfig',
    }
  }
}

async function kinds(client: Client): Promise<CheckResult> {
  const own = (await client.resources()).filter(({ group }) => group.includes('.') && !group.endsWith('.k8s.io'))
  return {
    check: 'kinds',
    ok: true,
    says: own.length === 0 ? 'only built-in kinds' : own.map(({ plural, group }) => `${plural}.${group}`).join(', '),
  }
}

async function manager({ values, io }: Invocation): Promise<readonly CheckResult[]> {
  try {
    const report = await readManager(values, io)
    if (!report) return [{ check: 'manager', ok: true, says: 'none is running in this directory' }]
    return report.controllers.map(({ name, isReady, isWorking, problems, failing }) => ({
      check: `controller ${name}`,
      ok: problems.length === 0 && isReady,
      says:
        problems.join('; ') ||
        `${isWorking ? 'running' : 'standby'}${failing === 0 ? '' : `; retries ${failing} failing objects`}`,
    }))
  } catch (error) {
    const failure = failureOf(error)
    if (!failure) throw error
    return [{ check: 'manager', ok: false, says: failure.message, advice: failure.hints[0] }]
  }
}
