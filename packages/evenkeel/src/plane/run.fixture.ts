/**
 * A process and a machine to call `run` with: nothing of the real ones is touched.
 */
import { EventEmitter } from 'node:events'
import type { Host } from '#client'
import type { RunProcess } from './run.ts'

export class FakeProcess extends EventEmitter implements RunProcess {
  out = ''
  err = ''
  exitCode: number | undefined = undefined
  readonly exits: number[] = []
  readonly stdout = {
    write: (text: string): void => {
      this.out += text
    },
  }
  readonly stderr = {
    write: (text: string): void => {
      this.err += text
    },
  }

  exit(code: number): void {
    this.exits.push(code)
  }
}

/** A machine with these files and variables. */
export function hostWith(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}): Host {
  return {
    env,
    home: '/home/somebody',
    pathDelimiter: ':',
    isTerminal: false,
    readFile: (path) => {
      const text = files[path]
      return text === undefined
        ? Promise.reject(Object.assign(new Error('no such file'), { code: 'ENOENT' }))
        : Promise.resolve(text)
    },
    runProgram: () => Promise.reject(new Error('there are no programs')),
  }
}

interface Cluster {
  readonly server: string
  readonly token?: string | undefined
  readonly caPem?: string | undefined
}

/** A kubeconfig of one cluster. */
export function kubeconfigOf({ server, token = 'none', caPem }: Cluster): string {
  const trust = caPem === undefined ? {} : { 'certificate-authority-data': Buffer.from(caPem).toString('base64') }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'it',
    clusters: [{ name: 'it', cluster: { server, ...trust } }],
    users: [{ name: 'it', user: { token } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
  })
}
