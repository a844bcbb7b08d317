/**
 * A program that runs until it is told to stop, and then ends at once.
 */

/** Resolves with the first signal that asks the process to end. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve)
  })
}

/** Runs a program; what it throws is told in one line, without a stack: it is about flags and files. */
export async function exitWith(program: Promise<number>): Promise<never> {
  let code = 1
  try {
    code = await program
  } catch (error) {
    process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`)
  }
  // Connections that others keep open must not keep a process that was told to go.
  process.exit(code)
}
