/**
 * The resource usage of processes on Linux; undefined elsewhere, and for a missing process.
 */
import { readFileSync } from 'node:fs'

/** CPU time in microseconds of all threads of these processes. The kernel counts in steps of 10 ms. */
export function cpuUsOf(processIds: readonly number[]): number | undefined {
  return sumOf(processIds, (id) => {
    const text = readProc(id, 'stat')
    return text === undefined ? undefined : parseCpuUs(text)
  })
}

/** The memory of these processes in bytes. */
export function rssBytesOf(processIds: readonly number[]): number | undefined {
  return sumOf(processIds, (id) => {
    const text = readProc(id, 'status')
    return text === undefined ? undefined : parseRssBytes(text)
  })
}

/** From `/proc/ID/stat`, where the name of the program is in parentheses and may itself contain some. */
export function parseCpuUs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** From `/proc/ID/status`. */
export function parseRssBytes(status: string): number | undefined {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? []
  return kib === undefined ? undefined : Number(kib) * 1024
}

function readProc(id: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${id}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

function sumOf(processIds: readonly number[], of: (id: number) => number | undefined): number | undefined {
  if (processIds.length === 0) return undefined
  let sum = 0
  for (const id of processIds) {
    const value = of(id)
    if (value === undefined) return undefined
    sum += value
  }
  return sum
}
