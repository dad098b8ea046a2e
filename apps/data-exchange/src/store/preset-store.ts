import { PRESET_BYTES_MAX, PRESETS_MAX } from '@plinth/contracts/data-exchange/shapes';
import type { Caller } from '@plinth/kernel/caller';
import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { runOnce } from '@plinth/runtime/postgres/run-once';
import { presetsTooLarge, tooManyPresets } from '../domain/problems';
import type { ExportPreset, Prisma } from '../generated/client';

export type Preset = Pick<
  ExportPreset,
  'definitionName' | 'presetName' | 'selectedFields' | 'format' | 'includeIdForImport'
> & { filter: Record<string, string> | null };

/** Presets belong to the user who saved them. A repeated operation changes nothing more. */
export interface PresetStore {
  list(caller: Caller, definitionName: string): Promise<Preset[]>;
  /** Returns whether the preset is new. @throws Problem `quota-exceeded` */
  save(caller: Caller, preset: Preset): Promise<{ isNew: boolean }>;
  /** Returns whether there was one. */
  remove(caller: Caller, definitionName: string, presetName: string): Promise<boolean>;
}

const SAVE = `
  INSERT INTO export_preset
    (tenant_id, user_id, definition_name, preset_name, selected_fields, format, include_id_for_import,
     filter)
  VALUES ($1::uuid, $2, $3, $4, $5::text[], $6, $7, $8::jsonb)
  ON CONFLICT (tenant_id, user_id, definition_name, preset_name) DO UPDATE SET
    selected_fields = excluded.selected_fields, format = excluded.format,
    include_id_for_import = excluded.include_id_for_import, filter = excluded.filter, saved_at = now()
  RETURNING (xmax = 0) AS is_new`;

const USED = `
  SELECT count(*)::integer AS presets, coalesce(sum(octet_length(filter::text)), 0)::integer AS bytes
  FROM export_preset WHERE tenant_id = $1::uuid AND user_id = $2 AND definition_name = $3`;

export function presetStore(db: TenantDatabase<Prisma.TransactionClient>): PresetStore {
  const once = <Result>(caller: Caller, effect: (tx: Prisma.TransactionClient) => Promise<Result>) =>
    db.inTenant(caller.tenantId, (tx) => runOnce(tx, caller, () => effect(tx)));

  return {
    list: ({ tenantId, userId }, definitionName) =>
      db.inTenant(tenantId, async (tx) => {
        const rows = await tx.exportPreset.findMany({
          where: { tenantId, userId, definitionName },
          select: {
            definitionName: true,
            presetName: true,
            selectedFields: true,
            format: true,
            includeIdForImport: true,
            filter: true,
          },
          orderBy: { presetName: 'asc' },
          take: PRESETS_MAX,
        });
        return rows.map((row) => ({ ...row, filter: row.filter as Preset['filter'] }));
      }),

    save: (caller, preset) =>
      once(caller, async (tx) => {
        const { tenantId, userId } = caller;
        const { definitionName } = preset;
        // One writer at a time adds and counts, so that the quota is exact.
        await lockUntilCommit(tx, `${tenantId}/export-presets/${userId}/${definitionName}`);
        const [row] = await tx.$queryRawUnsafe<{ is_new: boolean }[]>(
          SAVE,
          tenantId,
          userId,
          definitionName,
          preset.presetName,
          preset.selectedFields,
          preset.format,
          preset.includeIdForImport,
          preset.filter && JSON.stringify(preset.filter),
        );
        const isNew = row!.is_new;
        const [used] = await tx.$queryRawUnsafe<{ presets: number; bytes: number }[]>(
          USED,
          tenantId,
          userId,
          definitionName,
        );
        const { presets, bytes } = used!;
        if (isNew && presets > PRESETS_MAX) throw tooManyPresets();
        if (preset.filter && bytes > PRESET_BYTES_MAX) throw presetsTooLarge(bytes);
        return { isNew };
      }),

    remove: (caller, definitionName, presetName) =>
      once(caller, async (tx) => {
        const { tenantId, userId } = caller;
        const { count } = await tx.exportPreset.deleteMany({
          where: { tenantId, userId, definitionName, presetName },
        });
        return count > 0;
      }),
  };
}
