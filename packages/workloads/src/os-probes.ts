/**
 * Probes by HTTP, TCP and a program.
 *
 * HTTP: 2xx is healthy. Redirects are followed, at most five, and only to the same host and port: another one says nothing
 * about this process. At most 10 KiB of the body are read. A certificate is checked unless the probe says otherwise.
 *
 * Program: exit code 0 is healthy. It runs in a process group of its own, which is killed after the check or its timeout, so
 * that nothing of it stays.
 *
 * Invariant: a check ends at its timeout, whatever the other side does.
 */
import { spawn } from 'node:child_process'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { connect } from 'node:net'
import { onAbort, SystemClock, type Clock } from 'evenkeel/unstable/base'
import type { ProbeCheck, ProbeChecks, ProbeOutcome } from './prober.ts'

type CheckOf<Type extends ProbeCheck['type']> = Extract<ProbeCheck, { readonly type: Type }>
type Report = (outcome: ProbeOutcome) => void

const bodyBytesMax = 10 * 1024
const redirectsMax = 5

export class OsProbes implements ProbeChecks {
  readonly #clock: Clock

  constructor({ clock = new SystemClock() }: { readonly clock?: Clock } = {}) {
    this.#clock = clock
  }

  findHealth(check: ProbeCheck, { signal }: { readonly signal?: AbortSignal } = {}): Promise<ProbeOutcome> {
    return new Promise((resolve) => {
      let end: () => void = () => undefined
      let stopListening: () => void = () => undefined
      const settle = (outcome: ProbeOutcome): void => {
        cancel()
        stopListening()
        end()
        resolve(outcome)
      }
      const cancel = this.#clock.after(check.timeoutMs, () => {
        settle({ isOk: false, output: `no result within ${check.timeoutMs} ms` })
      })
      stopListening = onAbort(signal, () => {
        settle({ isOk: false, output: 'the run is over' })
      })
      end = begin(check, settle)
    })
  }
}

/** Begins a check. Returns a function that ends it. */
function begin(check: ProbeCheck, report: Report): () => void {
  switch (check.type) {
    case 'http':
      return beginHttp(check, report)
    case 'tcp':
      return beginTcp(check, report)
    case 'exec':
      return beginExec(check, report)
  }
}

function beginHttp(check: CheckOf<'http'>, report: Report): () => void {
  let end: () => void = () => undefined
  const visit = (url: string, redirects: number): void => {
    end = sendRequest(url, check, {
      report,
      redirect: (location) => {
        const target = new URL(location, url)
        if (target.host !== new URL(url).host)
          report({
            isOk: false,
            output: `${url} redirects to another host, ${target.host}: it says nothing about this process`,
          })
        else if (redirects >= redirectsMax)
          report({ isOk: false, output: `${check.url} redirects more than ${redirectsMax} times` })
        else visit(target.href, redirects + 1)
      },
    })
  }
  visit(check.url, 0)
  return () => {
    end()
  }
}

interface HttpAnswer {
  readonly report: Report
  readonly redirect: (location: string) => void
}

function sendRequest(
  url: string,
  { headers, isInsecure }: CheckOf<'http'>,
  { report, redirect }: HttpAnswer,
): () => void {
  const send = url.startsWith('https:') ? requestHttps : requestHttp
  const request = send(url, {
    agent: false,
    headers: { 'user-agent': 'evenkeel-probe', ...headers },
    ...(isInsecure && { rejectUnauthorized: false }),
  })
  request.once('error', (error) => {
    report({ isOk: false, output: `${url}: ${error.message}` })
  })
  request.once('response', (response) => {
    const { statusCode = 0 } = response
    const { location } = response.headers
    if (statusCode >= 300 && statusCode < 400 && location !== undefined) {
      response.destroy()
      redirect(location)
      return
    }
    let body = ''
    const finish = (): void => {
      response.destroy()
      report({ isOk: statusCode >= 200 && statusCode < 300, output: `${url}: ${statusCode} ${body}`.trim() })
    }
    response.setEncoding('utf8').on('data', (piece: string) => {
      body = (body + piece).slice(0, bodyBytesMax)
      if (body.length >= bodyBytesMax) finish()
    })
    response.once('end', finish)
  })
  request.end()
  return () => {
    request.destroy()
  }
}

function beginTcp({ port }: CheckOf<'tcp'>, report: Report): () => void {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.once('connect', () => {
    report({ isOk: true, output: `port ${port} accepts connections` })
  })
  socket.once('error', (error) => {
    report({ isOk: false, output: `port ${port}: ${error.message}` })
  })
  return () => {
    socket.destroy()
  }
}

function beginExec({ command: [name = '', ...args], cwd, env }: CheckOf<'exec'>, report: Report): () => void {
  let output = ''
  let child: ReturnType<typeof spawn>
  try {
    child = spawn(name, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    report({ isOk: false, output: String(error) })
    return () => undefined
  }
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      output = (output + piece).slice(-bodyBytesMax)
    })
  child.once('error', (error) => {
    report({ isOk: false, output: error.message })
  })
  child.once('exit', (exitCode, signal) => {
    report({
      isOk: exitCode === 0,
      output: `${output}${exitCode === 0 ? '' : ` (${signal ?? `exit code ${exitCode}`})`}`.trim(),
    })
  })
  return () => {
    child.stdout?.destroy()
    child.stderr?.destroy()
    killGroup(child.pid)
  }
}

/** The whole group, while its first process is not reaped or still has members: the number cannot be another's. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // Nothing is left of it.
  }
}
