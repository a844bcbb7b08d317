/**
 * Settings of a process that is a server, for programs that own their process: `evenkeel serve`, not a library.
 *
 * Besides the heap (heap-growth.ts) it is the priority of V8's background threads. They mark and compile for every thread
 * of the process. While the thread of large writes works on hostile documents, they collect its garbage: in an attack by
 * 24 clients on two cores they used 42 % of a core, and the requests of others waited for one. On Linux each thread has a
 * priority of its own, so requests go first when all cores are busy, and nothing changes when they are not.
 *
 *   node-MainThread 0     libuv-worker 0     node-V8Worker 5     thread of large writes 10
 *
 * Node names its threads since version 24. Before, they cannot be told apart and keep their priority.
 */
import type { Cancel, Clock } from './clock.ts'
import { keepHeapHeadroom } from './heap-growth.ts'

/** Node 24 names them without the prefix. */
const backgroundThread = /^(?:node-)?V8Worker$/
/** Added to the priority of requests, usually 0; the thread of large writes has 10. A higher number goes later. */
const backgroundStep = 5
const lastPriority = 19

/** The threads of this process, so that a test can stand in for them. */
interface ProcessThreads {
  /** The name of each thread by its id; empty where the system does not list them. */
  names(): ReadonlyMap<number, string>
  /** That of the main thread. */
  priority(): number
  setPriority(id: number, priority: number): void
}

/** The returned function ends what continues to run. */
export function tuneServerProcess(clock: Clock): Cancel {
  lowerBackgroundThreads()
  return keepHeapHeadroom(clock)
}

/** How many threads got the lower priority. */
export function lowerBackgroundThreads(threads: ProcessThreads = linuxThreads()): number {
  const found = [...threads.names()].filter(([, name]) => backgroundThread.test(name))
  const priority = Math.min(lastPriority, threads.priority() + backgroundStep)
  for (const [id] of found) threads.setPriority(id, priority)
  return found.length
}

function linuxThreads(): ProcessThreads {
  const fs = process.getBuiltinModule('node:fs')
  const os = process.getBuiltinModule('node:os')
  const folder = '/proc/self/task'
  return {
    names() {
      if (process.platform !== 'linux' || !fs.existsSync(folder)) return new Map()
      return new Map(fs.readdirSync(folder).map((id) => [Number(id), threadName(`${folder}/${id}/comm`)]))
    },
    priority: () => os.getPriority(),
    setPriority(id, priority) {
      os.setPriority(id, priority)
    },
  }

  /** Empty when the thread ended meanwhile. */
  function threadName(file: string): string {
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : ''
  }
}
