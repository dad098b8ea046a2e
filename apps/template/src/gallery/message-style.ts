/** What messages have in common: one column that mail programs show well. */
export const messageStyle = `
      body { margin: 0; padding: 32px 12px; background: #f3f5f8; color: #1d2733; font: 16px/1.55 "Liberation Sans", Arial, sans-serif; }
      .message { max-width: 560px; margin: 0 auto; padding: 36px; border-radius: 14px; background: #fff; }
      .brand { margin: 0 0 28px; color: #1f4fd8; font-weight: 700; }
      h1 { margin: 0 0 14px; font-size: 26px; line-height: 1.25; letter-spacing: -.01em; }
      p { margin: 0 0 16px; }
      .button { display: inline-block; padding: 12px 22px; border-radius: 8px; background: #1f4fd8; color: #fff; font-weight: 700; text-decoration: none; }
      .box { margin: 22px 0; padding: 18px 20px; border-radius: 10px; background: #f3f5f8; }
      .soft { color: #586474; font-size: 14px; }
      .foot { max-width: 560px; margin: 18px auto 0; color: #586474; font-size: 13px; text-align: center; }
      table { width: 100%; border-collapse: collapse; }
      td { padding: 9px 0; border-bottom: 1px solid #e2e7ed; vertical-align: top; }
      td.number { padding-left: 16px; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
      .total td { border-bottom: 0; font-size: 18px; font-weight: 700; }
      @media print { body { padding: 0; background: none; } .message { padding: 24px 0; } }`;
