/* Arrays of the host for a launch on a device: all of them go there in one copy, and what is written
 * comes back in one, by way of memory that the device reads by itself. */

enum { APART = 256 }; /* bytes: as arrays of a device's own are aligned */

typedef struct {
    char *from; /* on the host */
    int64_t place, size;
    bool written;
} Copy;

typedef struct {
    int64_t count, size;
    int64_t first, last; /* of the bytes that come back */
    Copy rows[MOST_LEAVES];
} Copies;

static bool bit_of(int64_t leaves, int64_t leaf) { return leaves >> leaf & 1; }

/* The copy of an array without gaps that owns its memory: such arrays have the same or none in
 * common. */
static Copy *copy_of(Copies *copies, const Leaf *a, const Field *f) {
    for (int64_t i = 0; i < copies->count; i++) {
        if (copies->rows[i].from == a->data) return &copies->rows[i];
    }
    int64_t size = f->divisor;
    for (int axis = 0; axis < f->axis; axis++) size *= a->shape[axis];
    Copy *made = &copies->rows[copies->count++];
    *made = (Copy){a->data, copies->size, size, false};
    copies->size += (size + APART - 1) / APART * APART;
    return made;
}

/* Gives each array of the host a place in the room, where it lies from now on for the kernel; false
 * if there is not enough. */
static bool place_copies(const Plan *plan, Leaf *leaves, Copies *copies) {
    const Head *head = &plan->head;
    copies->count = copies->size = copies->last = 0;
    copies->first = head->room->size;
    for (const Field *f = plan->fields; f < plan->fields + head->fields; f++) {
        if (f->part != DATA || !bit_of(head->hosts, f->leaf)) continue;
        Copy *copy = copy_of(copies, &leaves[f->leaf], f);
        if (copies->size > head->room->size) return false;
        leaves[f->leaf].data = head->room->device + copy->place;
        if (!bit_of(head->returned, f->leaf)) continue;
        copy->written = true;
        if (copy->place < copies->first) copies->first = copy->place;
        if (copy->place + copy->size > copies->last) copies->last = copy->place + copy->size;
    }
    return true;
}

static int bring(const Room *room, const Copies *copies, void *stream) {
    for (int64_t i = 0; i < copies->count; i++) {
        const Copy *copy = &copies->rows[i];
        memcpy(room->host + copy->place, copy->from, (size_t)copy->size);
    }
    return room->copy_in((uintptr_t)room->device, room->host, (size_t)copies->size, stream);
}

/* Waits for the kernel, too. */
static int bring_back(const Room *room, const Copies *copies, void *stream) {
    int64_t first = copies->first, size = copies->last - copies->first;
    int code = 0;
    if (size > 0) {
        uintptr_t from = (uintptr_t)room->device + (uintptr_t)first;
        code = room->copy_out(room->host + first, from, (size_t)size, stream);
    }
    if (!code) code = room->wait(stream);
    for (int64_t i = 0; !code && i < copies->count; i++) {
        const Copy *copy = &copies->rows[i];
        if (copy->written) memcpy(copy->from, room->host + copy->place, (size_t)copy->size);
    }
    return code;
}
