/**
 * What a client configuration needs of the machine: environment, files, programs. Tests bring their own.
 */
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter } from 'node:path'
import type { AbortOptions } from '#base'

export interface ProgramCall extends AbortOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether it may use the terminal. */
  readonly interactive: boolean
}

export interface ProgramResult {
  /** The exit code; undefined when a signal ended it. */
  readonly code: number | undefined
  readonly stdout: string
  /** Its standard error; empty when it went to the terminal. */
  readonly stderr: string
}

export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  /** What separates paths in `KUBECONFIG`. */
  readonly pathDelimiter: string
  /** Whether there is a terminal. */
  readonly isTerminal: boolean
  /** Rejects with code `ENOENT` when there is no such file. */
  readFile(path: string): Promise<string>
  /** Rejects when the program cannot be started. */
  runProgram(call: ProgramCall): Promise<ProgramResult>
}

/** This machine. */
export function systemHost(): Host {
  return {
    env: process.env,
    home: homedir(),
    pathDelimiter: delimiter,
    isTerminal: Boolean(process.stdin.isTTY),
    readFile: (path) => readFile(path, 'utf8'),
    runProgram,
  }
}

/** A credential is small; a program that writes more than this is not one that prints credentials. */
const outputBytesMax = 4 * 1024 * 1024

function runProgram({ command, args, env, interactive, signal }: ProgramCall): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env,
      windowsHide: true,
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', interactive ? 'inherit' : 'pipe'],
      ...(signal && { signal }),
    })
    const texts = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        texts[name] += text
        if (texts[name].length > outputBytesMax) child.kill()
      })
    }
    child.on('error', reject)
    child.on('close', (code) => {
      resolve({ code: code ?? undefined, ...texts })
    })
  })
}
