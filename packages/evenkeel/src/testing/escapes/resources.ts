/**
 * Notices what a program takes of the machine that no function can be put in front of: sockets, files, processes, and timers
 * that were imported instead of taken from the global scope.
 *
 * Node tells when such a thing is made, and who is making it is on the stack. That costs, so it is done only while an
 * undisturbed schedule runs.
 */
import { createHook } from 'node:async_hooks'

const resourceNames: Readonly<Record<string, string>> = {
  Timeout: 'a timer',
  TCPWRAP: 'a connection',
  PIPEWRAP: 'a connection',
  TCPCONNECTWRAP: 'a connection',
  TCPSERVERWRAP: 'a server',
  PIPECONNECTWRAP: 'a connection',
  UDPWRAP: 'a socket',
  GETADDRINFOREQWRAP: 'a look-up of a name',
  QUERYWRAP: 'a look-up of a name',
  HTTPCLIENTREQUEST: 'a connection',
  FSREQCALLBACK: 'a file',
  FSREQPROMISE: 'a file',
  FSEVENTWRAP: 'a file',
  STATWATCHER: 'a file',
  PROCESSWRAP: 'a process',
  WORKER: 'a thread',
}

/** @param taken hears what is made while it is being made @returns what ends it */
export function watchResources(taken: (what: string) => void): () => void {
  let isTelling = false
  const hook = createHook({
    init(_, type) {
      const what = resourceNames[type]
      if (what === undefined || isTelling) return
      isTelling = true
      try {
        taken(what)
      } finally {
        isTelling = false
      }
    },
  })
  hook.enable()
  return () => {
    hook.disable()
  }
}
