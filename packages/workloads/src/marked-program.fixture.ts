/**
 * A program for tests that kill Evenkeel: it proves that no run is started twice, and none before the one before is gone.
 *
 *   FOLDER/marks       a line for each start: the mark of the run. A line that is there twice is a run that was started twice
 *   FOLDER/overlaps    a line for each start while a process of an earlier run of the object was alive: each holds a lock until it ends
 */

interface MarkedProgramOptions {
  readonly folder: string
  /** Of the object. */
  readonly name: string
}

/** For `/bin/sh`: a shell with a child in its group, and one that left it and has no parent. */
export function markedProgram({ folder, name }: MarkedProgramOptions): string {
  return [
    `exec 9>'${folder}/lock-${name}'`,
    `flock -n 9 || echo "$EVENKEEL_RUN" >>'${folder}/overlaps'`,
    `echo "$EVENKEEL_RUN" >>'${folder}/marks'`,
    `sleep 1000 & (setsid sleep 1001 &)`,
    `trap 'exit 0' TERM`,
    'wait',
  ].join('\n')
}
