/**
 * The tools that run programs side by side: ours, and those whose binaries are given.
 *
 *   PROCESS_COMPOSE   the program process-compose
 *   DCP               the program dcp
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { markName, type MarkedProcesses } from './marked-processes.ts'

export interface Tool {
  readonly name: string
  /** No tool: what starting and ending programs costs by itself. @default false */
  readonly isReference?: boolean
  /** Has a helper process for each program: a thousand of them would fill the machine. @default false */
  readonly isHeavy?: boolean
  /** Starts the tool and has it run so many programs; resolves when it was told all of them. */
  start(order: ToolOrder): Promise<ChildProcess>
}

export interface ToolOrder {
  /** An empty folder. */
  readonly folder: string
  readonly count: number
  readonly marked: MarkedProcesses
}

const spawner = fileURLToPath(new URL('bare-spawner.mjs', import.meta.url))
const command = fileURLToPath(new URL('../../packages/evenkeel/bin/evenkeel.mjs', import.meta.url))
const pollMs = 5

function launch(program: readonly string[], { folder, marked }: ToolOrder): ChildProcess {
  const [file = '', ...args] = program
  return spawn(file, args, {
    cwd: folder,
    env: { ...process.env, [markName]: marked.token },
    stdio: ['ignore', 'ignore', process.env['BENCH_LOG'] === undefined ? 'ignore' : 'inherit'],
  })
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `p${index}`)
}

export const evenkeel: Tool = {
  name: 'evenkeel',
  start(order) {
    const file = join(order.folder, 'evenkeel.yaml')
    const objects = names(order.count).map(
      (name) =>
        `apiVersion: workloads.evenkeel.dev/v1\nkind: Process\nmetadata: { name: ${name} }\nspec: { command: [sleep, '${order.marked.sleepArgument}'] }\n`,
    )
    writeFileSync(file, objects.join('---\n'))
    return Promise.resolve(
      launch([process.execPath, command, 'run', file, '--plain', '--memory', '--port', '0'], order),
    )
  },
}

const bareNode: Tool = {
  name: 'node alone',
  isReference: true,
  start: (order) =>
    Promise.resolve(launch([process.execPath, spawner, String(order.count), order.marked.sleepArgument], order)),
}

function processCompose(program: string): Tool {
  return {
    name: 'process-compose',
    start(order) {
      const file = join(order.folder, 'process-compose.yaml')
      const lines = names(order.count).map(
        (name) => `  ${name}:\n    command: "exec sleep ${order.marked.sleepArgument}"`,
      )
      writeFileSync(file, `version: "0.5"\nprocesses:\n${lines.join('\n')}\n`)
      return Promise.resolve(launch([program, 'up', '--tui=false', '--no-server', '-f', file], order))
    },
  }
}

function dcp(program: string): Tool {
  return {
    name: 'dcp',
    isHeavy: true,
    async start(order) {
      const kubeconfig = join(order.folder, 'kubeconfig')
      const child = launch([program, 'start-apiserver', '--kubeconfig', kubeconfig], order)
      while (!existsSync(kubeconfig) && child.exitCode === null) await sleep(pollMs)
      const text = readFileSync(kubeconfig, 'utf8')
      const access = {
        url: /server: (\S+)/.exec(text)?.[1] ?? '',
        token: /token: (\S+)/.exec(text)?.[1] ?? '',
      }
      await Promise.all(
        names(order.count).map((name) =>
          post(access, {
            apiVersion: 'usvc-dev.developer.microsoft.com/v1',
            kind: 'Executable',
            metadata: { name },
            spec: { executablePath: '/bin/sleep', args: [order.marked.sleepArgument] },
          }),
        ),
      )
      return child
    },
  }
}

interface Access {
  readonly url: string
  readonly token: string
}

/** The certificate is of this run and on loopback: it is not checked. */
function post({ url, token }: Access, body: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/apis/usvc-dev.developer.microsoft.com/v1/executables`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        rejectUnauthorized: false,
      },
      (response) => {
        response.resume()
        response.on('end', () => {
          if (response.statusCode === 201) resolve()
          else reject(new Error(`dcp returns ${response.statusCode}`))
        })
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

/** Ours first, then what starting costs by itself, and the peers that are given. */
export function findTools(environment: Readonly<Record<string, string | undefined>> = process.env): readonly Tool[] {
  const { PROCESS_COMPOSE: composePath, DCP: dcpPath } = environment
  return [
    evenkeel,
    bareNode,
    ...(composePath === undefined || composePath === '' ? [] : [processCompose(composePath)]),
    ...(dcpPath === undefined || dcpPath === '' ? [] : [dcp(dcpPath)]),
  ]
}
