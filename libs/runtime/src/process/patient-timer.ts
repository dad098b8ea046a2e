const LOOKS = 4;

/**
 * Calls back after a time in which nothing came. A process that stood still, as on a busy machine, finds that the time of
 * its timers is up before it reads what has arrived meanwhile. So this one looks several times: the process reads between
 * two looks, and however long it stood still counts as one of them.
 */
export class PatientTimer {
  private looks = LOOKS;
  private readonly timer: NodeJS.Timeout;

  constructor(milliseconds: number, callback: () => void) {
    this.timer = setTimeout(() => {
      this.looks -= 1;
      if (this.looks > 0) this.timer.refresh();
      else callback();
    }, milliseconds / LOOKS);
  }

  /** Something came: the time begins anew. */
  refresh(): void {
    this.looks = LOOKS;
    this.timer.refresh();
  }

  clear(): void {
    clearTimeout(this.timer);
  }
}
