/**
 * Catches rejections that nobody listens to while a schedule runs: they are findings, not the end of this process.
 *
 * Whoever else listens (a test runner) is put aside meanwhile.
 */
export function catchUnhandledRejections(heard: (error: unknown) => void): () => void {
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', heard)
  return () => {
    process.removeListener('unhandledRejection', heard)
    for (const other of others) process.on('unhandledRejection', other)
  }
}
